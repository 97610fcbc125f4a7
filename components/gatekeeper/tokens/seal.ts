import { createHmac, hkdfSync } from "node:crypto";

import { createSealer as createTextSealer } from "@swath/service/seal";

/** Keeps what is handed to a browser unreadable and unchangeable for it. */
export interface Sealer {
  readonly seal: (value: unknown) => string;
  /** `undefined` for anything that was not sealed with this key for this purpose. */
  readonly open: (text: string) => unknown;
  /** A secret that only holders of the key can derive from these parts. */
  readonly derive: (...parts: readonly string[]) => string;
}

const PREFIX = "s1.";

/** A key of its own for each purpose: what was sealed for one is nothing for another. */
export function createSealer(secret: string, purpose: string): Sealer {
  const sealer = createTextSealer(secret, `gatekeeper/${purpose}`);
  const deriving = Buffer.from(hkdfSync("sha256", secret, "swath-gatekeeper", `${purpose}/derive`, 32));
  return {
    seal: (value) => PREFIX + sealer.seal(JSON.stringify(value), PREFIX),
    open: (text) => {
      const opened = isSealed(text) ? sealer.open(text.slice(PREFIX.length), PREFIX) : undefined;
      return opened === undefined ? undefined : (JSON.parse(opened) as unknown);
    },
    derive: (...parts) => createHmac("sha256", deriving).update(JSON.stringify(parts)).digest("base64url"),
  };
}

/** Whether a text looks like something sealed. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}
