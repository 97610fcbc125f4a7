import type { FastifyInstance } from "fastify";

import { factsOf } from "./parse-json.ts";

const MAX_PATH_CHARACTERS = 200;

/** Text that no store has a place for: NUL, or half of a surrogate pair. */
export function isHostileText(text: string): boolean {
  return text.includes("\u0000") || !text.isWellFormed();
}

/** A value of a body, and where it is: the path is only put together for what is refused. */
interface Place {
  readonly value: unknown;
  readonly key: string | number;
  readonly parent: Place | undefined;
}

/**
 * Where a parsed body holds such a text, as a value or as a name: `inputs.text`, or empty for the body itself. Goes as deep as the
 * body does, without recursion.
 */
export function findHostileText(body: unknown): string | undefined {
  const pending: Place[] = [{ value: body, key: "", parent: undefined }];
  for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
    const { value } = place;
    const parent = place;
    if (typeof value === "string") {
      if (isHostileText(value)) {
        return pathOf(place);
      }
    } else if (Array.isArray(value)) {
      // Not spread into push: a list may be longer than a call takes arguments.
      value.forEach((item, key) => pending.push({ value: item, key, parent }));
    } else if (typeof value === "object" && value !== null && !isBinary(value)) {
      for (const [key, item] of Object.entries(value)) {
        if (isHostileText(key)) {
          return `a name in ${pathOf(place) || "the body"}`;
        }
        pending.push({ value: item, key, parent });
      }
    }
  }
  return undefined;
}

function pathOf(place: Place): string {
  const keys: (string | number)[] = [];
  for (let at: Place = place; at.parent !== undefined; at = at.parent) {
    keys.push(at.key);
  }
  const path = keys.toReversed().join(".");
  return path.length > MAX_PATH_CHARACTERS ? `${path.slice(0, MAX_PATH_CHARACTERS)}…` : path;
}

/**
 * Answers 400 to requests whose address or parsed body holds text that cannot be stored. Without this each statement that such a
 * text reaches fails, as if the service were at fault.
 */
export function refuseHostileText(app: FastifyInstance): void {
  app.addHook("onRequest", (request, _reply, done) => {
    done(/%00/.test(request.url) ? badRequest("the address holds %00, which no text may hold") : undefined);
  });
  app.addHook("preValidation", (request, _reply, done) => {
    // A text without such escapes holds none: bodies of megabytes are not walked for nothing.
    const path = factsOf(request.body)?.hasSuspectEscape === false ? undefined : findHostileText(request.body);
    done(
      path === undefined
        ? undefined
        : badRequest(`${path || "the body"} holds NUL or half of a surrogate pair, which no text may hold`),
    );
  });
}

/** SQLSTATE of what a client sent and no column takes: text, numbers out of range, rows longer than an index takes, a broken check. */
const REFUSED_BY_DATABASE = new Set(["22001", "22003", "22021", "22P02", "22P05", "23514", "54000"]);

/** Whether the database refused a value for what it is, so that the same request will never succeed. */
export function isRefusedByDatabase(error: unknown): boolean {
  return error instanceof Error && "code" in error && REFUSED_BY_DATABASE.has(String(error.code));
}

/** What clients are told of it. */
export const REFUSED_VALUE = "A value of this request cannot be stored: it is too long, out of range, or not a text.";

/** Bytes and streams are no text, and not for here to read. */
function isBinary(value: object): boolean {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || Symbol.asyncIterator in value;
}

function badRequest(message: string): Error & { readonly statusCode: number } {
  return Object.assign(new Error(message), { statusCode: 400 });
}
