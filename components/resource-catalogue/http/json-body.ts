import type { FastifyInstance } from "fastify";

import { problem } from "./errors.ts";

/** A JSON body as it came, and what it says. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** A body of a request: large ones are parsed in a thread, so nothing is before it is asked for. */
export class RequestBody implements JsonBody {
  readonly bytes: Buffer;
  #parsed: JsonBody | undefined;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get text(): string {
    return this.#parse().text;
  }

  get value(): unknown {
    return this.#parse().value;
  }

  #parse(): JsonBody {
    this.#parsed ??= parseJsonBody(this.bytes);
    return this.#parsed;
  }
}

const TYPES = [
  "application/json",
  "application/geo+json",
  "application/merge-patch+json",
  "application/json-patch+json",
  "application/ogc-catalog+json",
] as const;

/** Bodies of JSON come to routes of this scope as `JsonBody`: text and value. */
export function addJsonBodies(scope: FastifyInstance): void {
  scope.removeContentTypeParser("application/json");
  for (const type of TYPES) {
    scope.addContentTypeParser(type, { parseAs: "buffer" }, (_request, body, done) => {
      done(null, new RequestBody(body as Buffer));
    });
  }
}

const DECODER = new TextDecoder("utf-8", { fatal: true });

/** @throws {Problem} 400 for anything that is not JSON in UTF-8 */
export function parseJsonBody(body: Buffer, what = "The body"): JsonBody {
  let text: string;
  try {
    text = DECODER.decode(body);
  } catch {
    throw problem(400, "BadRequest", `${what} is not UTF-8, which JSON must be.`);
  }
  return parseJsonText(text, what);
}

/** @throws {Problem} 400 for anything that is not JSON */
export function parseJsonText(text: string, what = "The body"): JsonBody {
  try {
    return { text, value: JSON.parse(text) };
  } catch (error) {
    throw problem(400, "BadRequest", `${what} is not JSON: ${(error as Error).message.slice(0, 200)}.`);
  }
}

/** A body that is a JSON object. @throws {Problem} 400 */
export function requireObject(body: unknown): {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
} {
  const { text, value } = (body ?? {}) as Partial<JsonBody>;
  if (typeof value !== "object" || value === null || Array.isArray(value) || text === undefined) {
    throw problem(400, "BadRequest", "The body must be a JSON object, with a content type of JSON.");
  }
  return { text, value: value as Readonly<Record<string, unknown>> };
}
