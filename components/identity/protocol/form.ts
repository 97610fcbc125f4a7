import type { FastifyRequest } from "fastify";

import { invalidRequest } from "./oauth-error.ts";

/** Fields that may come several times: the permissions that a UMA grant asks for, as in Keycloak. */
const REPEATABLE = new Set(["permission"]);

/** The fields of a form or of a query. Others that come twice are refused (RFC 6749 §3.1, §3.2). */
export class Form {
  readonly #fields: ReadonlyMap<string, string>;
  readonly #lists: ReadonlyMap<string, readonly string[]>;

  constructor(source: unknown) {
    const fields = new Map<string, string>();
    const lists = new Map<string, readonly string[]>();
    for (const [name, value] of Object.entries((source ?? {}) as Record<string, unknown>)) {
      if (REPEATABLE.has(name)) {
        lists.set(name, [value].flat().filter((item) => typeof item === "string" && item !== "") as string[]);
        continue;
      }
      if (Array.isArray(value)) {
        throw invalidRequest(`parameter ${name} must not come more than once`);
      }
      // An empty parameter counts as left out (RFC 6749 §3.1).
      if (typeof value === "string" && value !== "") {
        fields.set(name, value);
      }
    }
    this.#fields = fields;
    this.#lists = lists;
  }

  /** The values of a field that may come several times. */
  all(name: "permission"): readonly string[] {
    return this.#lists.get(name) ?? [];
  }

  get(name: string): string | undefined {
    return this.#fields.get(name);
  }

  entries(): readonly (readonly [string, string])[] {
    return [...this.#fields];
  }

  /** @throws {OAuthError} naming the field */
  require(name: string): string {
    const value = this.#fields.get(name);
    if (value === undefined) {
      throw invalidRequest(`Missing parameter: ${name}`);
    }
    return value;
  }
}

/** The body of a request to a protocol endpoint. @throws {OAuthError} where it is not a form */
export function readForm(request: FastifyRequest): Form {
  const type = request.headers["content-type"] ?? "";
  if (request.method === "POST" && !/^application\/x-www-form-urlencoded\b/i.test(type) && request.body !== undefined) {
    throw invalidRequest("the body must be a form (content-type application/x-www-form-urlencoded)");
  }
  return new Form(request.body);
}
