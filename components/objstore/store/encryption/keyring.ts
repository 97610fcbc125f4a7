import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from "node:crypto";

/** A data key as a row keeps it: encrypted with a key of the deployment (AES-256-GCM). */
export interface WrappedKey {
  /** Name of the deployment's key. */
  readonly by: string;
  /** Nonce, tag and encrypted key, Base64. */
  readonly value: string;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * The keys of the deployment, `<secret>` or `<name>:<secret>` separated by commas. The first encrypts; the others are there to decrypt
 * what they encrypted before. A secret without a name is known by its fingerprint.
 */
export class Keyring {
  readonly #keys: ReadonlyMap<string, Buffer>;

  /** @throws {Error} when the setting cannot be read */
  constructor(setting: string | undefined) {
    const entries = (setting ?? "").split(",").flatMap((item) => (item.trim() === "" ? [] : [item.trim()]));
    this.#keys = new Map(
      entries.map((entry) => {
        const [, provided, secret] = /^(?:([\w-]{1,32}):)?(.{16,})$/.exec(entry) ?? [];
        if (secret === undefined) {
          throw new Error(
            "OBJSTORE_ENCRYPTION_KEYS must be secrets of 16 characters or more, each with or without a name in front (<name>:<secret>), separated by commas; the first encrypts.",
          );
        }
        const name = provided ?? createHash("sha256").update(`swath objstore key ${secret}`).digest("hex").slice(0, 8);
        return [name, Buffer.from(hkdfSync("sha256", secret, "swath objstore", name, 32))] as const;
      }),
    );
  }

  get isEmpty(): boolean {
    return this.#keys.size === 0;
  }

  /** Names of the keys; the first encrypts. */
  get names(): readonly string[] {
    return [...this.#keys.keys()];
  }

  wrap(key: Buffer): WrappedKey {
    const [by, own] = this.#keys.entries().next().value as [string, Buffer];
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", own, nonce);
    const encrypted = Buffer.concat([cipher.update(key), cipher.final()]);
    return { by, value: Buffer.concat([nonce, cipher.getAuthTag(), encrypted]).toString("base64") };
  }

  /** @throws {Error} when the deployment's key is not there any more, or not what it was */
  unwrap({ by, value }: WrappedKey): Buffer {
    const own = this.#keys.get(by);
    if (own === undefined) {
      throw new Error(
        `the key "${by}" of OBJSTORE_ENCRYPTION_KEYS is missing: objects encrypted with it cannot be read`,
      );
    }
    const bytes = Buffer.from(value, "base64");
    const decipher = createDecipheriv("aes-256-gcm", own, bytes.subarray(0, NONCE_BYTES));
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
  }
}
