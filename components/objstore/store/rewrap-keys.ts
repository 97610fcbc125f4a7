import type { IndexDatabase } from "./index-database.ts";
import type { Keyring, WrappedKey } from "./keyring.ts";
import { takeTurns } from "./turns.ts";
import type { Versions } from "./versions.ts";

const NAME = "encryption-key";
const BATCH = 200;

export interface RewrapReport {
  readonly rewrapped: number;
  /** Versions and uploads whose key of the deployment is missing, by its name. */
  readonly missing: ReadonlyMap<string, number>;
}

interface RewrapDeps {
  readonly index: IndexDatabase;
  readonly versions: Versions;
}

interface EncryptedRow {
  readonly bucket: number;
  readonly key: string;
  readonly seq: number;
  readonly encryption: string;
}

/**
 * Encrypts the data keys of all objects and open uploads anew when the first key of the deployment is another than last time. No
 * content is read or written. Resolves with undefined when there was nothing to do.
 */
export async function rewrapKeys(
  { index, versions }: RewrapDeps,
  keyring: Keyring,
  signal: AbortSignal,
): Promise<RewrapReport | undefined> {
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
      `select bucket, key, seq, encryption from versions where encryption is not null and (bucket, key, seq) > (?, ?, ?)
       order by bucket, key, seq limit ?`,
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
    if (changed.length > 0) {
      await index.mutate(() => changed.forEach((row) => versions.setEncryption(row.bucket, row, row.encryption)));
    }
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
