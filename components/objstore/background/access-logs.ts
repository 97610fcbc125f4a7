import { createHash, randomBytes } from "node:crypto";

import { type LoggedRequest, type LoggingRule, parseLogging, toLogLine } from "../protocol/logging.ts";
import { encryptByDeployment } from "../protocol/encryption.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import { type Bucket, DEFAULT_CHECKSUM } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";

/** Lines that are kept in memory at most; then they are written at once. */
const MAX_BUFFERED_CHARACTERS = 4 << 20;

interface AccessLogsDeps {
  readonly store: ObjectStore;
  readonly keyring: Keyring;
  readonly region: string;
  readonly onError: (error: unknown) => void;
}

/**
 * Access logs of buckets, written as objects of their target buckets at intervals. As at AWS they are told as well as possible: a crash
 * loses the lines since the last time.
 */
export class AccessLogs {
  readonly #deps: AccessLogsDeps;
  #lines = new Map<string, string[]>();
  #size = 0;
  #writing: Promise<void> | undefined;

  constructor(deps: AccessLogsDeps) {
    this.#deps = deps;
  }

  /** Whether a bucket has a log: most have none. */
  isWanted(name: string): boolean {
    return (this.#deps.store.buckets.find(name)?.logging ?? null) !== null;
  }

  add(name: string, entry: LoggedRequest): void {
    const bucket = this.#deps.store.buckets.find(name);
    if (bucket === undefined || bucket.logging === null) {
      return;
    }
    const line = toLogLine(bucket, entry);
    const lines = this.#lines.get(name);
    if (lines === undefined) {
      this.#lines.set(name, [line]);
    } else {
      lines.push(line);
    }
    this.#size += line.length;
    if (this.#size > MAX_BUFFERED_CHARACTERS) {
      void this.write();
    }
  }

  /** Writes what was added. Never rejects. */
  async write(): Promise<void> {
    await this.#writing;
    const lines = this.#lines;
    this.#lines = new Map();
    this.#size = 0;
    this.#writing = this.#writeAll(lines).finally(() => {
      this.#writing = undefined;
    });
    await this.#writing;
  }

  async #writeAll(lines: ReadonlyMap<string, readonly string[]>): Promise<void> {
    for (const [name, texts] of lines) {
      try {
        const bucket = this.#deps.store.buckets.find(name);
        const rule = bucket === undefined || bucket.logging === null ? undefined : parseLogging(bucket.logging);
        if (bucket !== undefined && rule !== undefined) {
          await this.#writeObject(bucket, rule, Buffer.from(texts.join("")));
        }
      } catch (error) {
        this.#deps.onError(error);
      }
    }
  }

  async #writeObject(source: Bucket, rule: LoggingRule, data: Buffer): Promise<void> {
    const { store, keyring } = this.#deps;
    const target = store.buckets.get(rule.bucket);
    const encryption = target.encryption === null ? undefined : encryptByDeployment(keyring);
    const draft = store.versions.draft();
    const headers = { "content-type": "text/plain" };
    const { owner } = target;
    const key = this.#toKey(source, rule);
    const writer = await store.files.create(["md5", DEFAULT_CHECKSUM], encryption?.key);
    try {
      await writer.write(data);
      const label = { kind: "object", bucket: target.name, key, ...draft, owner, headers } as const;
      const file = await writer.finish({ ...label, algorithm: DEFAULT_CHECKSUM, encryption: encryption?.stored });
      const value = Buffer.from(file.digests[DEFAULT_CHECKSUM] ?? []).toString("base64");
      await store.versions.put(target, {
        key,
        size: data.length,
        etag: createHash("md5").update(data).digest("hex"),
        owner,
        headers,
        checksum: { algorithm: DEFAULT_CHECKSUM, value, type: "FULL_OBJECT" },
        draft,
        encryption: encryption === undefined ? null : JSON.stringify(encryption.stored),
        content: { kind: "file", file },
        event: { name: "ObjectCreated:Put" },
      });
    } catch (error) {
      if (!store.index.hasFailed) {
        await writer.discard();
      }
      throw error;
    } finally {
      writer.settle();
    }
  }

  #toKey({ name, account }: Bucket, { prefix, isPartitioned }: LoggingRule): string {
    const { store, region } = this.#deps;
    const [year, month, day, ...time] = new Date(store.now()).toISOString().slice(0, 19).split(/[-T:]/);
    const folder = isPartitioned ? `${account || "-"}/${region}/${name}/${year}/${month}/${day}/` : "";
    const id = randomBytes(8).toString("hex").toUpperCase();
    return `${prefix}${folder}${year}-${month}-${day}-${time.join("-")}-${id}`;
  }
}
