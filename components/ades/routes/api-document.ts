import type { OpenApiVersion } from "@swath/service/send-openapi";
import type { FastifyRequest } from "fastify";

import { invalidQuery } from "../errors.ts";
import type { ApiBase } from "./context.ts";

/** The version that `v=` asks for. @throws {OgcError} 400 */
export function readVersion(request: FastifyRequest): OpenApiVersion | undefined {
  const { v } = request.query as { v?: string };
  if (v !== undefined && v !== "3.0" && v !== "3.1") {
    throw invalidQuery("v", v, "3.0, 3.1");
  }
  return v;
}

interface Document {
  readonly paths?: Readonly<Record<string, object | undefined>>;
  readonly openapi: string;
  readonly info: object;
  readonly tags?: unknown;
  readonly components?: unknown;
  readonly security?: unknown;
}

/** The description of one user's space by one face: paths begin after `/{user}/ogc-api`, which is the server. */
export function apiDocument(whole: object, apiBase: ApiBase): object {
  const { openapi, paths = {}, info, tags, components, security } = whole as Document;
  const prefix = "/{user}/ogc-api";
  const own = Object.entries(paths).flatMap(([path, item]) =>
    path === prefix || path.startsWith(`${prefix}/`)
      ? [[path.slice(prefix.length) || "/", withoutUser(item ?? {})]]
      : [],
  );
  return {
    openapi,
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
