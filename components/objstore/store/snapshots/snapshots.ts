import { mkdir, open, readFile, readdir, rename, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import type { CrashPoints } from "../crash-points.ts";
import type { GarbageCollector } from "../content/garbage.ts";
import { syncDirectory } from "../sync-directory.ts";
import { FileCloner, type Sharing } from "./clone-file.ts";
import { cloneContent, copyIndex } from "./copy-store.ts";

/** What a snapshot holds, as `snapshot.json` in its folder says. */
export interface Snapshot {
  /** When it was made, UTC: `20261129T120000Z`; a second one of the same second ends with `-2`. */
  readonly id: string;
  readonly created: string;
  /** Made by the schedule, which deletes it in time. */
  readonly isScheduled: boolean;
  readonly sharing: Sharing;
  readonly buckets: readonly SnapshotBucket[];
  /** Content files that the store had lost before: versions made of them cannot be restored. */
  readonly lostFiles: number;
}

export interface SnapshotBucket {
  readonly name: string;
  readonly objects: number;
  /** Of all versions. */
  readonly bytes: number;
}

interface SnapshotsDeps {
  /** Folder of the store. */
  readonly directory: string;
  /** Path of the index in use. */
  readonly index: string;
  readonly garbage: GarbageCollector;
  readonly now: () => number;
  readonly crash: CrashPoints;
}

const ID = /^\d{8}T\d{6}Z(-\d+)?$/;
const UNFINISHED = ".new-";
const DELETED = ".deleted-";

/**
 * Snapshots of the store, folders below `snapshots/` of its volume: a copy of the index as of one moment, and every content file by
 * another name. They take the room of the index, and keep the room of what is deleted afterwards.
 */
export class Snapshots {
  readonly #deps: SnapshotsDeps;
  readonly #folder: string;

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps;
    this.#folder = join(deps.directory, "snapshots");
  }

  /** Removes what an ended process had begun to make or to delete. */
  async tidy(): Promise<void> {
    for (const name of await this.#readNames()) {
      if (name.startsWith(UNFINISHED) || name.startsWith(DELETED)) {
        await rm(join(this.#folder, name), { recursive: true, force: true });
      }
    }
  }

  /** All snapshots, newest first. */
  async list(): Promise<Snapshot[]> {
    const ids = (await this.#readNames()).filter((name) => ID.test(name));
    const snapshots = await Promise.all(ids.map((id) => this.find(id)));
    return snapshots
      .filter((snapshot) => snapshot !== undefined)
      .toSorted((a, b) => Date.parse(b.created) - Date.parse(a.created) || b.id.localeCompare(a.id));
  }

  async find(id: string): Promise<Snapshot | undefined> {
    if (!ID.test(id)) {
      return undefined;
    }
    try {
      return JSON.parse(await readFile(join(this.#folder, id, "snapshot.json"), "utf8")) as Snapshot;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        return undefined;
      }
      throw error;
    }
  }

  /** Folder of a snapshot, with `index.db` and `content/`. */
  folderOf(id: string): string {
    if (!ID.test(id)) {
      throw new TypeError(`"${id}" is not the id of a snapshot`);
    }
    return join(this.#folder, id);
  }

  /**
   * Makes a snapshot of what is in the store now, while it is in use. It is listed once it is whole and on the disk; when `signal` is
   * aborted, nothing of it stays.
   */
  async create({
    isScheduled,
    signal,
  }: {
    readonly isScheduled: boolean;
    readonly signal?: AbortSignal | undefined;
  }): Promise<Snapshot> {
    const { directory, index, garbage, crash, now } = this.#deps;
    await checkSpace(directory, index);
    const created = new Date(now());
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await syncDirectory(directory);
    const id = await this.#chooseId(created);
    const folder = join(this.#folder, `${UNFINISHED}${id}`);
    // What the copied index refers to must be there until it has its second name.
    const resume = await garbage.pause();
    try {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { mode: 0o700 });
      await copyIndex(index, join(folder, "index.db"));
      await crash.reach("snapshot-copied");
      const cloner = new FileCloner();
      const missing = await cloneContent(directory, folder, (from, to) => {
        signal?.throwIfAborted();
        return cloner.clone(from, to);
      });
      await crash.reach("snapshot-cloned");
      const snapshot: Snapshot = {
        id,
        created: created.toISOString(),
        isScheduled,
        sharing: cloner.sharing,
        buckets: readBuckets(join(folder, "index.db")),
        lostFiles: missing.length,
      };
      await writeDurably(join(folder, "snapshot.json"), JSON.stringify(snapshot));
      await syncDirectory(folder);
      await rename(folder, join(this.#folder, id));
      await crash.reach("snapshot-named");
      await syncDirectory(this.#folder);
      return snapshot;
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    } finally {
      resume();
    }
  }

  /** Deletes a snapshot; it is gone from lists at once, its files when this resolves. False: there is none. */
  async delete(id: string): Promise<boolean> {
    if ((await this.find(id)) === undefined) {
      return false;
    }
    const deleted = join(this.#folder, `${DELETED}${id}`);
    await rename(this.folderOf(id), deleted);
    await syncDirectory(this.#folder);
    await rm(deleted, { recursive: true, force: true });
    return true;
  }

  async #chooseId(created: Date): Promise<string> {
    const second = created.toISOString().replace(/[-:]|\.\d+/g, "");
    const names = new Set(await this.#readNames());
    let id = second;
    for (let n = 2; names.has(id); n += 1) {
      id = `${second}-${n}`;
    }
    return id;
  }

  async #readNames(): Promise<readonly string[]> {
    try {
      return await readdir(this.#folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") {
        return [];
      }
      throw error;
    }
  }
}

/** @throws {Error} when the copy of the index would leave less free space than it takes */
async function checkSpace(directory: string, index: string): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const { size } = await stat(index);
  if (bavail * bsize < 2 * size) {
    throw new Error(
      `A snapshot needs ${size} bytes for its index, and as much again has to stay free: ${bavail * bsize} bytes are free.`,
    );
  }
}

function readBuckets(index: string): SnapshotBucket[] {
  const database = new DatabaseSync(index, { readOnly: true });
  try {
    return database
      .prepare("select name, objects, bytes from buckets where name not like '.%' order by name")
      .all()
      .map(({ name, objects, bytes }) => ({ name: String(name), objects: Number(objects), bytes: Number(bytes) }));
  } finally {
    database.close();
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
