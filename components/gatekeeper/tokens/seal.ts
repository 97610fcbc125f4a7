import { createHmac, hkdfSync } from "node:crypto";

import { createSealer as createTextSealer } from "@swath/service/seal";

/** Keeps what is handed to a browser unreadable and unchangeable for it. */
export interface Sealer {
  readonly seal: (value: unknown) => string;
  /** `undefined` for anything that was not sealed with this key for this purpose. */
  readonly open: (text: string) => unknown;
  /** A secret that only holders of the key can derive from these parts. */
  readonly derive: (...parts: readonly string[]) => string;
  /** That of the key which sealed the text, where more than one is known; itself for anything else. */
  readonly sealerOf: (text: string) => Sealer;
}

const PREFIX = "s1.";

/**
 * A key of its own for each purpose: what was sealed for one is nothing for another.
 * @param also a second secret while the first is being changed: it opens and never seals
 */
export function createSealer(secret: string, purpose: string, also?: string): Sealer {
  const first = createKeySealer(secret, purpose);
  if (also === undefined) {
    return first;
  }
  const second = createKeySealer(also, purpose);
  const sealerOf = (text: string) =>
    first.open(text) === undefined && second.open(text) !== undefined ? second : first;
  return { ...first, open: (text) => first.open(text) ?? second.open(text), sealerOf };
}

function createKeySealer(secret: string, purpose: string): Sealer {
  const sealer = createTextSealer(secret, `gatekeeper/${purpose}`);
  const deriving = Buffer.from(hkdfSync("sha256", secret, "swath-gatekeeper", `${purpose}/derive`, 32));
  const own: Sealer = {
    sealerOf: () => own,
    seal: (value) => PREFIX + sealer.seal(JSON.stringify(value), PREFIX),
    open: (text) => {
      const opened = isSealed(text) ? sealer.open(text.slice(PREFIX.length), PREFIX) : undefined;
      return opened === undefined ? undefined : (JSON.parse(opened) as unknown);
    },
    derive: (...parts) => createHmac("sha256", deriving).update(JSON.stringify(parts)).digest("base64url"),
  };
  return own;
}

/** Whether a text looks like something sealed. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}
