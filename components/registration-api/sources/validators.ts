import type { IncomingHttpHeaders } from "node:http";

import type { Validators } from "./source-types.ts";

/** Longest validator that is kept; a longer one is no use. */
const MAX_LENGTH = 1000;

/** What the head of an answer says of a document's version. */
export function readValidators({ etag, "last-modified": lastModified }: IncomingHttpHeaders): Validators {
  return {
    ...(typeof etag === "string" && etag.length <= MAX_LENGTH && { etag }),
    ...(typeof lastModified === "string" && lastModified.length <= MAX_LENGTH && { lastModified }),
  };
}

/** Headers that ask for a document only if it changed (RFC 9110 §13.1). */
export function toConditions({ etag, lastModified }: Validators = {}): Record<string, string> {
  if (etag !== undefined) {
    return { "if-none-match": etag };
  }
  return lastModified === undefined ? {} : { "if-modified-since": lastModified };
}
