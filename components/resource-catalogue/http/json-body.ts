import { JsonLimitError, parseJson } from "@swath/service/parse-json";
import type { FastifyInstance, FastifyRequest } from "fastify";

import { problem } from "./errors.ts";

/** A JSON body as it came, and what it says. */
export interface JsonBody {
  readonly text: string;
  readonly value: unknown;
}

/** A body of a request. Nothing is parsed before it is asked for, unless `parseInParts` was awaited. */
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

  /** Parses a large body while others have their turn. @throws {Problem} 400, 413 */
  async parseInParts(): Promise<void> {
    const text = decodeJson(this.bytes, "The body");
    try {
      this.#parsed = { text, value: await parseJson(this.bytes, LIMITS) };
    } catch (error) {
      throw toBodyProblem(error);
    }
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

/** A geometry of 100,000 positions has 300,000 values. */
const LIMITS = { maxDepth: 100, maxValues: 1_000_000 };
/** Parsing more takes milliseconds. */
const MAX_BYTES_AT_ONCE = 64 << 10;

/** Configuration of a route that has large bodies read in a thread: they are not parsed for it. */
export const BODY_IN_THREAD = { isBodyReadInThread: true } as object;

/** Bodies of JSON come to routes of this scope as `JsonBody`: text and value. */
export function addJsonBodies(scope: FastifyInstance): void {
  scope.removeContentTypeParser("application/json");
  for (const type of TYPES) {
    scope.addContentTypeParser(type, { parseAs: "buffer" }, async (request: FastifyRequest, body: Buffer) => {
      const read = new RequestBody(body);
      const { config } = request.routeOptions;
      if (body.length > MAX_BYTES_AT_ONCE && !("isBodyReadInThread" in config)) {
        await read.parseInParts();
      }
      return read;
    });
  }
}

const DECODER = new TextDecoder("utf-8", { fatal: true });

/** @throws {Problem} 400 for anything that is not JSON in UTF-8 */
export function parseJsonBody(body: Buffer, what = "The body"): JsonBody {
  return parseJsonText(decodeJson(body, what), what);
}

function decodeJson(body: Buffer, what: string): string {
  try {
    return DECODER.decode(body);
  } catch {
    throw problem(400, "BadRequest", `${what} is not UTF-8, which JSON must be.`);
  }
}

function toBodyProblem(error: unknown): unknown {
  if (error instanceof JsonLimitError) {
    return problem(
      error.limit === "depth" ? 400 : 413,
      error.limit === "depth" ? "BadRequest" : "TooLarge",
      `The body is refused: ${error.message}.`,
    );
  }
  return error instanceof SyntaxError
    ? problem(400, "BadRequest", `The body is not JSON: ${error.message.slice(0, 200)}.`)
    : error;
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
