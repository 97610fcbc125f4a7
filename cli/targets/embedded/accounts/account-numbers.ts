import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { readControlKey } from "../state/control-key.ts";
import { readJsonFile, writeJsonFile } from "../state/json-file.ts";
import { listFolders } from "../state/list-volumes.ts";
import type { ClusterPaths } from "../state/paths.ts";

/** The range of systemd's DynamicUser, which no user of a machine has. */
const FIRST = 61_184;
const LAST = 65_519;

/** What `accounts.json` holds. */
interface AccountRecord {
  /** Numbers of users and groups by what they are for. One is never given to anything else, also when its component is gone. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Volumes (`<namespace>/<name>`) whose files all belong to the number. */
  readonly volumes: Readonly<Record<string, number>>;
  /** Digest of the key of the supervisor that gave them: another one may have run services as root since. */
  readonly givenBy?: string;
}

export interface AccountNumbers {
  /** The number for this purpose, chosen at the first call and kept from the next `save` on. */
  readonly numberOf: (purpose: string) => number;
  /** Writes down what was chosen: before anything is given to a number, so that it is not chosen a second time. */
  readonly save: () => void;
  /** The number that all files of a volume (`<namespace>/<name>`) belong to; undefined when it is not known. */
  readonly ownerOf: (volume: string) => number | undefined;
  readonly recordOwner: (volume: string, owner: number | undefined) => void;
  /** From here on the supervisor with this key looks after them. */
  readonly takeOver: (key: string) => void;
}

/** The numbers of a cluster's accounts, apart from those of every other cluster in the same folder and of the machine's users. */
export function openAccountNumbers(paths: ClusterPaths): AccountNumbers {
  const { accountsFile } = paths;
  const kept = readJsonFile<AccountRecord>(accountsFile);
  const numbers = new Map(Object.entries(kept?.numbers ?? {}));
  // After a roll-back to a version without accounts, files that its services made are root's.
  const isSame = kept?.givenBy !== undefined && kept.givenBy === digest(readControlKey(paths) ?? "");
  let givenBy = kept?.givenBy;
  const volumes = new Map(Object.entries(isSame ? (kept?.volumes ?? {}) : {}));
  let taken: Set<number> | undefined;
  let changed = false;
  const save = (): void => {
    if (changed) {
      writeJsonFile(accountsFile, {
        numbers: Object.fromEntries(numbers),
        volumes: Object.fromEntries(volumes),
        ...(givenBy !== undefined && { givenBy }),
      } satisfies AccountRecord);
      changed = false;
    }
  };
  return {
    numberOf: (purpose) => {
      const existing = numbers.get(purpose);
      if (existing !== undefined) {
        return existing;
      }
      taken ??= new Set([...numbers.values(), ...listNumbersOfOthers(paths), ...listSystemNumbers()]);
      const chosen = chooseNumber(`${paths.id} ${purpose}`, taken);
      taken.add(chosen);
      numbers.set(purpose, chosen);
      changed = true;
      return chosen;
    },
    save,
    ownerOf: (volume) => volumes.get(volume),
    recordOwner: (volume, owner) => {
      if (volumes.get(volume) === owner) {
        return;
      }
      if (owner === undefined) {
        volumes.delete(volume);
      } else {
        volumes.set(volume, owner);
      }
      changed = true;
      save();
    },
    takeOver: (key) => {
      givenBy = digest(key);
      changed = true;
      save();
    },
  };
}

const digest = (key: string): string => createHash("sha256").update(key).digest("hex").slice(0, 16);

/**
 * The first free number from a place that the name decides, so that clusters whose folders do not lie side by side seldom meet.
 * @throws {Error} when the range is used up
 */
export function chooseNumber(name: string, taken: ReadonlySet<number>): number {
  const size = LAST - FIRST + 1;
  let hash = 0;
  for (const character of name) {
    hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % size;
  }
  for (let step = 0; step < size; step += 1) {
    const candidate = FIRST + ((hash + step) % size);
    if (!taken.has(candidate)) {
      return candidate;
    }
  }
  throw new Error(`all account numbers from ${FIRST} to ${LAST} are taken; remove clusters that are no longer needed`);
}

function listNumbersOfOthers({ directory }: ClusterPaths): readonly number[] {
  const clusters = dirname(directory);
  return listFolders(clusters).flatMap((name) => {
    const other = join(clusters, name);
    return other === directory
      ? []
      : Object.values(readJsonFile<AccountRecord>(join(other, "accounts.json"))?.numbers ?? {});
  });
}

/** Numbers of users and groups in /etc/passwd and /etc/group; some may be in this range. */
function listSystemNumbers(): readonly number[] {
  return ["/etc/passwd", "/etc/group"].flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) => Number(line.split(":")[2])),
  );
}
