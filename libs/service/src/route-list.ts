/** An operation that this process serves. */
export interface ServedRoute {
  readonly method: string;
  /** With parameters in braces; a query that chooses the operation belongs to it: `/{bucket}/{key}?acl`. */
  readonly path: string;
  /** JSON schemas, where the service has them. */
  readonly schema?: { readonly querystring?: unknown; readonly body?: unknown };
}

/** By method and path: a process serves each operation once, whichever of its applications does it. */
const served = new Map<string, ServedRoute>();

/** Adds an operation to what `/routes` of the management listener tells. Applications of `createApp` add theirs by themselves. */
export function noteRoute(route: ServedRoute): void {
  served.set(`${route.method} ${route.path}`, route);
}

/** What this process serves, as an OpenAPI document has it (`paths`): also operations that the public document leaves out. */
export function describeRoutes(): { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> } {
  const paths: Record<string, Record<string, object>> = {};
  for (const { method, path, schema } of served.values()) {
    const names = Object.keys((schema?.querystring as { properties?: object } | undefined)?.properties ?? {});
    (paths[path] ??= {})[method.toLowerCase()] = {
      parameters: names.map((name) => ({ name, in: "query" })),
      ...(schema?.body !== undefined && { requestBody: { content: { "application/json": { schema: schema.body } } } }),
    };
  }
  return { paths };
}
