import { randomBytes } from "node:crypto";
import { type FileHandle, access, link, mkdir, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

import { ContentReader } from "./content-reader.ts";
import type { ContentLabel } from "./content-trailer.ts";
import { ContentWriters, type FileWriter } from "./content-writers.ts";
import type { CrashPoints } from "../crash-points.ts";
import type { DigestName } from "../digests/digests.ts";
import type { ContentPart } from "../rows.ts";
import { GroupedDirectorySync, syncDirectory } from "../sync-directory.ts";

/** A content file that is complete and on the disk, and that nothing refers to yet. */
export interface WrittenFile {
  readonly id: string;
  readonly size: number;
  readonly digests: Readonly<Partial<Record<DigestName, Uint8Array>>>;
}

export interface ContentWriter {
  /** Takes a copy of `chunk`: at once, or once there is room. */
  readonly write: (chunk: Uint8Array) => undefined | Promise<void>;
  /** Forces the file and its name to the disk. `label`: what it says of itself. */
  readonly finish: (label?: ContentLabel) => Promise<WrittenFile>;
  /** Removes the file, whatever its state. */
  readonly discard: () => Promise<void>;
  /** To be called once the index refers to the file, or after `discard`. */
  readonly settle: () => void;
}

/**
 * Files of large content, `content/<hour>/<name>`. A file is written once under a name never used before, and counts only
 * from the moment the index refers to it: until then it is an orphan that recovery deletes, so there is no half-written
 * object to be seen and nothing to rename.
 */
export class ContentFiles {
  readonly #directory: string;
  readonly #now: () => number;
  readonly #crash: CrashPoints;
  readonly #writers = new ContentWriters(2);
  readonly #directories = new GroupedDirectorySync();
  readonly #knownHours = new Map<string, Promise<void>>();
  /** Files being written, or written and not yet in the index. */
  readonly #unsettled = new Set<string>();
  #adopters = 0;
  /** Files that somebody reads, and how many do. */
  readonly #held = new Map<string, number>();
  #onRelease: () => void = () => {};

  constructor(directory: string, now: () => number, crash: CrashPoints) {
    this.#directory = join(directory, "content");
    this.#now = now;
    this.#crash = crash;
  }

  async prepare(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    await syncDirectory(join(this.#directory, ".."));
  }

  /** Starts a file; with a key its bytes are encrypted, and the digests are those of what came. */
  async create(digests: readonly DigestName[], key?: Buffer): Promise<ContentWriter> {
    const hour = toHour(this.#now());
    const id = `${hour}-${randomBytes(12).toString("hex")}`;
    this.#unsettled.add(id);
    let writer: FileWriter;
    try {
      await this.#ensureHour(hour);
      writer = await this.#writers.open(this.pathOf(id), digests, key, id);
    } catch (error) {
      this.#unsettled.delete(id);
      throw error;
    }
    await this.#crash.reach("content-opened");
    let size = 0;
    return {
      write: (chunk) => {
        size += chunk.length;
        return writer.write(chunk);
      },
      finish: async (label) => {
        await this.#crash.reach("content-written");
        const result = await writer.sync(label);
        await writer.close();
        await this.#crash.reach("content-synced");
        await this.#directories.sync(join(this.#directory, hour));
        await this.#crash.reach("content-named");
        return { id, size, digests: result };
      },
      discard: async () => {
        await writer.close();
        await rm(this.pathOf(id), { force: true });
      },
      settle: () => void this.#unsettled.delete(id),
    };
  }

  /** Writes a file that is nothing but a label, for `enter` to enter into the index; it goes again when that fails. */
  async keepLabel<T>(
    label: ContentLabel,
    index: { readonly hasFailed: boolean },
    enter: (file: WrittenFile) => Promise<T>,
  ): Promise<T> {
    const writer = await this.create(["md5"]);
    try {
      return await enter(await writer.finish(label));
    } catch (error) {
      if (!index.hasFailed) {
        await writer.discard();
      }
      throw error;
    } finally {
      writer.settle();
    }
  }

  /** Keeps the collector from files until the function it gives back is called: who reads an object reads it to its end. */
  hold(parts: readonly ContentPart[]): () => void {
    for (const { file } of parts) {
      this.#held.set(file, (this.#held.get(file) ?? 0) + 1);
    }
    return () => {
      for (const { file } of parts) {
        const readers = (this.#held.get(file) ?? 0) - 1;
        if (readers > 0) {
          this.#held.set(file, readers);
        } else {
          this.#held.delete(file);
        }
      }
      this.#onRelease();
    };
  }

  isHeld(id: string): boolean {
    return this.#held.has(id);
  }

  get heldCount(): number {
    return this.#held.size;
  }

  /** Who is called when a reader lets go of files. */
  onRelease(listener: () => void): void {
    this.#onRelease = listener;
  }

  /** @throws {Error} with code ENOENT when the file is gone */
  open(id: string): Promise<FileHandle> {
    return open(this.pathOf(id), "r");
  }

  /** Opens a stretch of a part, `end` exclusive, whose bytes are verified as they are read. */
  read(part: ContentPart, start: number, end: number, key?: Buffer): ContentReader {
    return new ContentReader(this.open(part.file), part, start, end, key);
  }

  async remove(id: string): Promise<void> {
    await rm(this.pathOf(id), { force: true });
  }

  pathOf(id: string): string {
    const [, hour, name] = /^(\d{10})-([0-9a-f]{24})$/.exec(id) ?? [];
    if (hour === undefined || name === undefined) {
      throw new TypeError(`"${id}" is not the id of a content file`);
    }
    return join(this.#directory, hour, name);
  }

  /** Gives a file below `content` of a snapshot back its name here, not durably yet. False: neither has it. */
  async adopt(id: string, content: string): Promise<boolean> {
    const [hour = "", name = ""] = id.split("-");
    await this.#ensureHour(hour);
    try {
      await link(join(content, hour, name), this.pathOf(id));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") {
        return exists(this.pathOf(id));
      }
      if (code !== "EEXIST") {
        throw error;
      }
    }
    return true;
  }

  /** Forces the names of files to the disk. */
  async syncNames(ids: readonly string[]): Promise<void> {
    const hours = new Set(ids.map((id) => id.slice(0, 10)));
    await Promise.all([...hours].map((hour) => this.#directories.sync(join(this.#directory, hour))));
  }

  /** While files of any hour may be added, recovery must look at all of them, until the function that is given is called. */
  keepAllUnsettled(): () => void {
    this.#adopters += 1;
    return () => {
      this.#adopters -= 1;
    };
  }

  /** Ids of the files of all hours from `since` ("" for all) on. */
  async *list(since: string): AsyncGenerator<string> {
    for (const hour of (await readdir(this.#directory)).filter((name) => /^\d{10}$/.test(name) && name >= since)) {
      for (const name of (await readdir(join(this.#directory, hour))).filter((each) => /^[0-9a-f]{24}$/.test(each))) {
        yield `${hour}-${name}`;
      }
    }
  }

  /** Hours before this one hold no file whose fate is open: recovery need not look there. */
  settledBefore(): string {
    if (this.#adopters > 0) {
      return "";
    }
    return [...this.#unsettled]
      .map((id) => id.slice(0, 10))
      .reduce((least, hour) => (hour < least ? hour : least), toHour(this.#now()));
  }

  isUnsettled(id: string): boolean {
    return this.#unsettled.has(id);
  }

  close(): Promise<void> {
    return this.#writers.close();
  }

  async #ensureHour(hour: string): Promise<void> {
    let made = this.#knownHours.get(hour);
    if (made === undefined) {
      made = mkdir(join(this.#directory, hour), { recursive: true, mode: 0o700 }).then(() =>
        syncDirectory(this.#directory),
      );
      this.#knownHours.set(hour, made);
      made.catch(() => this.#knownHours.delete(hour));
    }
    await made;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

function toHour(time: number): string {
  return new Date(time).toISOString().replace(/\D/g, "").slice(0, 10);
}
