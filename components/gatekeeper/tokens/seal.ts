import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";

/** Keeps what is handed to a browser unreadable and unchangeable for it. */
export interface Sealer {
  readonly seal: (value: unknown) => string;
  /** `undefined` for anything that was not sealed with this key for this purpose. */
  readonly open: (text: string) => unknown;
  /** A secret that only holders of the key can derive from these parts. */
  readonly derive: (...parts: readonly string[]) => string;
}

const PREFIX = "s1.";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM with a key of its own for each purpose: what was sealed for one is nothing for another. */
export function createSealer(secret: string, purpose: string): Sealer {
  const key = (label: string) => Buffer.from(hkdfSync("sha256", secret, "swath-gatekeeper", `${purpose}/${label}`, 32));
  const sealing = key("seal");
  const deriving = key("derive");
  return {
    seal: (value) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", sealing, nonce);
      const text = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      return PREFIX + Buffer.concat([nonce, text, cipher.getAuthTag()]).toString("base64url");
    },
    open: (text) => {
      if (!isSealed(text)) {
        return undefined;
      }
      const bytes = Buffer.from(text.slice(PREFIX.length), "base64url");
      if (bytes.length < NONCE_BYTES + TAG_BYTES) {
        return undefined;
      }
      const decipher = createDecipheriv("aes-256-gcm", sealing, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      try {
        const opened = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
        return JSON.parse(opened.toString("utf8")) as unknown;
      } catch {
        // Changed, or sealed with another key: to the caller both are nothing.
        return undefined;
      }
    },
    derive: (...parts) => createHmac("sha256", deriving).update(JSON.stringify(parts)).digest("base64url"),
  };
}

/** Whether a text looks like something sealed. */
export function isSealed(text: string): boolean {
  return text.startsWith(PREFIX);
}
