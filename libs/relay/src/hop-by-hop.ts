/** Meant for one connection only (RFC 9110 §7.6.1). */
export const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  // Answered here once the request is allowed.
  "expect",
]);

/** Set by the ingress in front, with every value that came from outside overwritten. */
export const FROM_INGRESS: ReadonlySet<string> = new Set([
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-forwarded-port",
]);

/** Headers of an answer without those of the connection to the service. */
export function returnedHeaders(rawHeaders: readonly string[]): string[] {
  const dropped = connectionNames(rawHeaders);
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const lower = name.toLowerCase();
    if (!HOP_BY_HOP.has(lower) && dropped?.has(lower) !== true) {
      headers.push(name, rawHeaders[index + 1] as string);
    }
  }
  return headers;
}

/** Fields that a Connection header takes for its own. */
export function connectionNames(rawHeaders: readonly string[]): Set<string> | undefined {
  let names: Set<string> | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if ((rawHeaders[index] as string).toLowerCase() === "connection") {
      names ??= new Set();
      for (const name of (rawHeaders[index + 1] as string).split(",")) {
        names.add(name.trim().toLowerCase());
      }
    }
  }
  // A client must not be able to have the body's length or the ingress's word taken away.
  for (const kept of ["content-length", "authorization", ...FROM_INGRESS]) {
    names?.delete(kept);
  }
  return names;
}
