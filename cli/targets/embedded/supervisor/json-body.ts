import type { IncomingMessage } from "node:http";

import { readBody } from "@swath/service/read-body";

/** A plan of every component has some hundred kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** The whole body of a message, parsed. @throws {RangeError} once it has more than 16 MiB */
export async function readJsonBody(message: IncomingMessage): Promise<unknown> {
  const tooLarge = () => new RangeError(`The body has more than ${MAX_BYTES} bytes.`);
  return JSON.parse((await readBody(message, { maxBytes: MAX_BYTES, tooLarge })).toString("utf8"));
}
