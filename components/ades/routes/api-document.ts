import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";

import { invalidQuery } from "../errors.ts";
import type { ApiBase } from "./context.ts";

type Version = "3.0" | "3.1";

/** The media type of an OpenAPI document (OGC 18-062r2 /req/oas30/oas-definition-1). */
export const typeOf = (version: Version): string => `application/vnd.oai.openapi+json;version=${version}`;

/** Which version is wanted: by `v=`, else by `Accept`, 3.0 where it does not matter. @throws {OgcError} 400 */
export function chooseVersion(request: FastifyRequest): Version {
  const { v } = request.query as { v?: string };
  if (v !== undefined && v !== "3.0" && v !== "3.1") {
    throw invalidQuery("v", v, "3.0, 3.1");
  }
  return v ?? (new Negotiator(request).mediaType([typeOf("3.0"), typeOf("3.1")]) === typeOf("3.1") ? "3.1" : "3.0");
}

interface Document {
  readonly paths?: Readonly<Record<string, object | undefined>>;
  readonly info: object;
  readonly tags?: unknown;
  readonly components?: unknown;
  readonly security?: unknown;
}

/**
 * The description of one user's space by one face: paths begin after `/{user}/ogc-api`, which is the server. Schemas are written
 * in the words that both versions share; only what is said around them differs.
 */
export function apiDocument(whole: object, version: Version, apiBase: ApiBase): object {
  const { paths = {}, info, tags, components, security } = whole as Document;
  const prefix = "/{user}/ogc-api";
  const own = Object.entries(paths).flatMap(([path, item]) =>
    path === prefix || path.startsWith(`${prefix}/`)
      ? [[path.slice(prefix.length) || "/", withoutUser(item ?? {})]]
      : [],
  );
  return {
    openapi: version === "3.1" ? "3.1.0" : "3.0.3",
    info,
    servers: [{ url: apiBase.url }],
    tags,
    paths: Object.fromEntries(own) as object,
    components,
    security,
  };
}

/** The user is in the server's address already. */
function withoutUser(item: object): object {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]: [string, { parameters?: readonly { name: string }[] }]) => {
      const parameters = operation.parameters?.filter(({ name }) => name !== "user") ?? [];
      return [method, { ...operation, parameters }];
    }),
  );
}
