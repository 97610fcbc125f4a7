import { readBody as readAll } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { PdpError } from "./errors.ts";

const MAX_BODY_BYTES = 262_144;

/** The JSON of a request's body, of a GET too: known clients send one there. `undefined` without a body. @throws {PdpError} */
export async function readBody(request: FastifyRequest): Promise<unknown> {
  if (request.method !== "GET" || request.body !== undefined) {
    return request.body;
  }
  const tooLarge = () => new PdpError(413, "too large", `the body is larger than ${MAX_BODY_BYTES} bytes`);
  const text = (await readAll(request.raw, { maxBytes: MAX_BODY_BYTES, tooLarge })).toString("utf8");
  if (text.trim() === "") {
    return undefined;
  }
  try {
    // A key that would change what objects are is dropped.
    return JSON.parse(text, (key, value: unknown) => (key === "__proto__" ? undefined : value));
  } catch {
    throw new PdpError(400, "bad request", "the body is not JSON");
  }
}
