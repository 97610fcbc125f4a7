import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";

/** Keys made of the hub's secret. */
export interface Sealer {
  readonly seal: (text: string) => string;
  /** Undefined for what was not sealed with this secret. */
  readonly open: (sealed: string) => string | undefined;
  /** A text that only this deployment can say of `subject`. */
  readonly sign: (subject: string) => string;
  readonly isSigned: (subject: string, signature: string) => boolean;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

export function createSealer(secret: string): Sealer {
  const derive = (purpose: string) => Buffer.from(hkdfSync("sha256", secret, "application-hub", purpose, 32));
  const key = derive("logins");
  const signing = derive("forms");
  const sign = (subject: string) => createHmac("sha256", signing).update(subject).digest("base64url");
  return {
    seal: (text) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, iv);
      return Buffer.concat([iv, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString(
        "base64url",
      );
    },
    open: (sealed) => {
      const bytes = Buffer.from(sealed, "base64url");
      if (bytes.length < IV_BYTES + TAG_BYTES) {
        return undefined;
      }
      try {
        const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString(
          "utf8",
        );
      } catch {
        // Of another secret, or not ours.
        return undefined;
      }
    },
    sign,
    isSigned: (subject, signature) => {
      const [expected, given] = [Buffer.from(sign(subject)), Buffer.from(signature)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
}
