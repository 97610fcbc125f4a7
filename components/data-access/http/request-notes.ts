import type { IncomingMessage } from "node:http";

import type { Basis } from "../layers/basis.ts";
import type { Picture } from "../tiles/picture-cache.ts";

interface RequestNotes {
  /** Layers and items that were asked for. */
  basis?: Basis;
  /** How to find the picture of the response again. */
  recall?: NonNullable<Picture["recall"]>;
}

const notes = new WeakMap<IncomingMessage, RequestNotes>();

/** What is noted of a request while it is handled. */
export function notesOf(raw: IncomingMessage): RequestNotes {
  let found = notes.get(raw);
  if (found === undefined) {
    found = {};
    notes.set(raw, found);
  }
  return found;
}
