import { S3Error } from "../../errors.ts";
import type { Buckets } from "../buckets.ts";
import type { IndexDatabase } from "../index/index-database.ts";
import type { Keyring, WrappedKey } from "./keyring.ts";
import { takeTurns } from "../turns.ts";
import type { VersionChanges } from "../version-changes.ts";
import type { Versions } from "../versions.ts";

const NAME = "encryption-key";
const BATCH = 200;
/** Labels that are written at once: they share the syncs of the disk. */
const LABELS = 16;

export interface RewrapReport {
  readonly rewrapped: number;
  /** Versions and uploads whose key of the deployment is missing, by its name. */
  readonly missing: ReadonlyMap<string, number>;
}

interface RewrapDeps {
  readonly index: IndexDatabase;
  readonly buckets: Buckets;
  readonly versions: Versions;
  readonly changes: VersionChanges;
}

interface EncryptedRow {
  readonly bucket: number;
  readonly key: string;
  readonly version: string;
  readonly seq: number;
  readonly encryption: string;
  /** 1: the content is in files, which name the key by which theirs is encrypted. */
  readonly files: number;
}

/**
 * Encrypts the data keys of all objects and open uploads anew when the first key of the deployment is another than last time. No
 * content is read or written; of content in files another file tells the new key, so that a rebuilt index needs the old one no more.
 * Resolves with undefined when there was nothing to do.
 */
export async function rewrapKeys(
  deps: RewrapDeps,
  keyring: Keyring,
  signal: AbortSignal,
): Promise<RewrapReport | undefined> {
  const { index } = deps;
  const [current] = keyring.names;
  const last = index.get<{ value: string }>("select value from meta where name = ?", NAME)?.value;
  if (current === undefined || last === current) {
    return undefined;
  }
  let rewrapped = 0;
  const missing = new Map<string, number>();
  const rewrap = (encryption: string): string | undefined => {
    const stored = JSON.parse(encryption) as { readonly kind: string; readonly key?: WrappedKey };
    if (stored.key === undefined || stored.key.by === current) {
      return undefined;
    }
    if (!keyring.names.includes(stored.key.by)) {
      missing.set(stored.key.by, (missing.get(stored.key.by) ?? 0) + 1);
      return undefined;
    }
    rewrapped += 1;
    return JSON.stringify({ ...stored, key: keyring.wrap(keyring.unwrap(stored.key)) });
  };
  for (let after: EncryptedRow | undefined; !signal.aborted;) {
    const rows = index.all<EncryptedRow>(
      `select bucket, key, version, seq, encryption, c.parts is not null as files
       from versions left join contents c on c.id = content
       where encryption is not null and (bucket, key, seq) > (?, ?, ?) order by bucket, key, seq limit ?`,
      after?.bucket ?? -1,
      after?.key ?? "",
      after?.seq ?? 0,
      BATCH,
    );
    after = rows.at(-1);
    if (after === undefined) {
      break;
    }
    const changed = rows.flatMap((row) => {
      const encryption = rewrap(row.encryption);
      return encryption === undefined ? [] : [{ ...row, encryption }];
    });
    await save(deps, changed);
    await takeTurns();
  }
  if (signal.aborted) {
    return { rewrapped, missing };
  }
  const uploads = index.all<{ id: string; encryption: string }>(
    "select id, encryption from uploads where encryption is not null",
  );
  await index.mutate(() => {
    for (const { id, encryption } of uploads) {
      const changed = rewrap(encryption);
      if (changed !== undefined) {
        index.run("update uploads set encryption = ? where id = ?", changed, id);
      }
    }
    if (missing.size === 0) {
      index.run(
        "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
        NAME,
        current,
      );
    }
  });
  return { rewrapped, missing };
}

async function save({ index, buckets, versions, changes }: RewrapDeps, rows: readonly EncryptedRow[]): Promise<void> {
  const small = rows.filter(({ files }) => files === 0);
  if (small.length > 0) {
    await index.mutate(() => small.forEach((row) => versions.setEncryption(row.bucket, row, row.encryption)));
  }
  const byId = new Map(buckets.list().map((bucket) => [bucket.id, bucket]));
  const large = rows.filter(({ files }) => files === 1);
  for (let at = 0; at < large.length; at += LABELS) {
    await Promise.all(
      large.slice(at, at + LABELS).map(async (row) => {
        const bucket = byId.get(row.bucket);
        try {
          await (bucket && changes.setEncryption(bucket, row, row.encryption));
        } catch (error) {
          // Overwritten or deleted meanwhile.
          if (!(error instanceof S3Error && error.code === "NoSuchVersion")) {
            throw error;
          }
        }
      }),
    );
  }
}
