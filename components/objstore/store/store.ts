import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import { Accounts } from "./accounts.ts";
import { Buckets } from "./buckets.ts";
import { ContentFiles } from "./content/content-files.ts";
import { Contents } from "./content/contents.ts";
import { type CrashPoints, noCrashPoints } from "./crash-points.ts";
import { Events } from "./events.ts";
import { GarbageCollector } from "./content/garbage.ts";
import { checkIndex, isDamage, markDamaged } from "./index/index-damage.ts";
import { IndexDatabase } from "./index/index-database.ts";
import { deleteOrphans } from "./recovery.ts";
import { ReservedSpace } from "./reserved-space.ts";
import { SettingsCopy } from "./rebuild/settings-copy.ts";
import { type BucketToRestore, type RestoredBucket, discardUnfinished, restoreBuckets } from "./snapshots/restore.ts";
import { Snapshots } from "./snapshots/snapshots.ts";
import { Uploads } from "./uploads.ts";
import { VersionChanges } from "./version-changes.ts";
import { Versions } from "./versions.ts";
import { lockVolume } from "./volume-lock.ts";

/** All that is kept in the volume of the object store. */
export interface ObjectStore {
  readonly directory: string;
  readonly index: IndexDatabase;
  readonly buckets: Buckets;
  readonly versions: Versions;
  readonly changes: VersionChanges;
  readonly events: Events;
  readonly contents: Contents;
  readonly uploads: Uploads;
  readonly accounts: Accounts;
  readonly files: ContentFiles;
  readonly garbage: GarbageCollector;
  readonly reservedSpace: ReservedSpace;
  readonly settings: SettingsCopy;
  readonly snapshots: Snapshots;
  /** Puts buckets back as a snapshot has them. @throws {Error} when there is no such snapshot or bucket */
  readonly restore: (
    snapshot: string,
    buckets: readonly BucketToRestore[],
    signal: AbortSignal,
  ) => Promise<readonly RestoredBucket[]>;
  readonly now: () => number;
  /** Content files of unfinished writes that were found and deleted when the store was opened. */
  readonly orphansDeleted: number;
  readonly close: () => Promise<void>;
}

export interface StoreOptions {
  readonly directory: string;
  /** What events call the region. */
  readonly region?: string;
  readonly now?: () => number;
  readonly crash?: CrashPoints;
  /** Space that is kept for deletes on a full disk. */
  readonly reservedSpaceBytes?: number;
  /** Bytes of the journal at which a new base is made. */
  readonly journalBytes?: number;
  /** The disk refused an fsync: what is in memory cannot be trusted any more, the process has to end. */
  readonly onFailure: (error: Error) => void;
  /** Something in the background failed and will be tried again. */
  readonly onBackgroundError: (error: unknown) => void;
}

/** Opens the store in a directory, creating it when it is empty, and clears up what a crash may have left. */
export async function openStore(options: StoreOptions): Promise<ObjectStore> {
  const { directory, now = Date.now, crash = noCrashPoints } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = lockVolume(directory);
  let index: IndexDatabase;
  try {
    checkIndex(directory);
    index = await IndexDatabase.open(directory, crash, options.onFailure, {
      bytes: options.journalBytes,
      onError: options.onBackgroundError,
    });
  } catch (error) {
    lock.release();
    throw isDamage(error) ? markDamaged(join(directory, "index.db"), error) : error;
  }
  const files = new ContentFiles(directory, now, crash);
  await files.prepare();
  const buckets = new Buckets(index);
  const contents = new Contents(index);
  const events = new Events({ index, region: options.region ?? "us-east-1", now });
  const versions = new Versions({ index, buckets, contents, events, now });
  const uploads = new Uploads({ index, buckets, contents, versions, files, now });
  const garbage = new GarbageCollector({ index, files, crash, onError: options.onBackgroundError });
  const settings = new SettingsCopy(directory, index);
  const orphansDeleted = await deleteOrphans(index, files);
  garbage.nudge();
  const snapshots = new Snapshots({ directory, index: index.path, garbage, now, crash });
  // What ended with the process before.
  const tidying = Promise.all([snapshots.tidy(), discardUnfinished({ index, contents }, crash)]).then(
    () => garbage.nudge(),
    options.onBackgroundError,
  );
  const reservedSpace = new ReservedSpace(directory, options.reservedSpaceBytes ?? 0);
  const restoring = { index, buckets, contents, files, garbage, reservedSpace, now };
  return {
    directory,
    index,
    buckets,
    versions,
    changes: new VersionChanges({ index, files, contents, versions, events, now }),
    events,
    contents,
    uploads,
    accounts: new Accounts(index, now),
    files,
    garbage,
    reservedSpace,
    settings,
    snapshots,
    restore: async (snapshot, wanted, signal) => {
      // A restore of the process before is not to be taken for this one.
      await tidying;
      return restoreBuckets(snapshots.folderOf(snapshot), wanted, { store: restoring, crash, signal });
    },
    now,
    orphansDeleted,
    close: async () => {
      await tidying;
      await garbage.drain();
      await settings.write();
      await files.close();
      await index.close();
      lock.release();
    },
  };
}
