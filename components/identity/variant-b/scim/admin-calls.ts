import type { FastifyInstance, FastifyRequest } from "fastify";

import { ScimError } from "./errors.ts";

/** Makes changes as every other client does: by requests to the admin REST API, in this process, with the caller's own token. */
export type CallAdmin = (
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  body?: object,
) => Promise<{ readonly id: string; readonly body: unknown }>;

/** So SCIM can do nothing that the admin API would refuse, and all of it is in the log of changes. */
export function createCallAdmin(app: FastifyInstance, realm: string, request: FastifyRequest): CallAdmin {
  return async (method, path, body) => {
    const response = await app.inject({
      method,
      url: `/admin/realms/${realm}/${path}`,
      headers: { authorization: request.headers.authorization ?? "" },
      remoteAddress: request.ip,
      ...(body !== undefined && { payload: body }),
    });
    const isJson = response.body !== "" && String(response.headers["content-type"]).includes("json");
    const parsed: unknown = isJson ? response.json() : undefined;
    if (response.statusCode >= 400) {
      const { errorMessage, error } = Object(parsed) as { errorMessage?: unknown; error?: unknown };
      const message = [errorMessage, error].find((text) => typeof text === "string");
      const type =
        response.statusCode === 409 ? "uniqueness" : response.statusCode === 400 ? "invalidValue" : undefined;
      throw new ScimError(response.statusCode, String(message ?? "The change was refused"), type);
    }
    const location = response.headers["location"];
    return { id: typeof location === "string" ? (location.split("/").at(-1) ?? "") : "", body: parsed };
  };
}
