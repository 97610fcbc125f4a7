import { type FileHandle, lstat, open, readdir } from "node:fs/promises";
import { join } from "node:path";

import { pack } from "tar-stream";

import type { ArchiveEntry } from "./read-entries.ts";

interface FolderOptions {
  /** Put before every name, with a slash at its end; nothing when left out. */
  readonly prefix?: string;
  /** Whether to leave out a path (relative to the folder, `/` between its parts), and for a directory all that is below it. */
  readonly skip?: (path: string) => boolean;
}

interface EntryHeader {
  readonly name: string;
  readonly type?: "file" | "directory";
  readonly size?: number;
  readonly mode: number;
}

const CHUNK = 1 << 20;

/** Makes a tar stream (POSIX, pax headers). One call at a time: the entries come in the order of the calls. */
export class ArchiveWriter {
  readonly #pack = pack();
  #entries = 0;

  /** The archive; must be read while it is written, since nothing is kept in memory. */
  get stream(): AsyncIterable<Uint8Array> {
    return this.#pack as AsyncIterable<Uint8Array>;
  }

  /** How many files and directories it has by now. */
  get entries(): number {
    return this.#entries;
  }

  /**
   * Adds the directories and regular files below a folder. Files may change meanwhile: each is taken with the size that it has
   * when its turn comes, and filled with zeros where it was cut shorter since; one that is gone is left out, and so are links.
   */
  async addFolder(folder: string, { prefix = "", skip = () => false }: FolderOptions = {}): Promise<void> {
    const addBelow = async (directory: string, path: string): Promise<void> => {
      for (const name of ((await ifThere(readdir(directory))) ?? []).sort()) {
        const relative = `${path}${name}`;
        const file = join(directory, name);
        const found = skip(relative) ? undefined : await ifThere(lstat(file));
        if (found?.isDirectory() === true) {
          await this.#add({ name: `${prefix}${relative}/`, type: "directory", mode: found.mode & 0o777 });
          await addBelow(file, `${relative}/`);
        } else if (found?.isFile() === true) {
          await this.addFile(file, `${prefix}${relative}`);
        }
      }
    };
    await addBelow(folder, "");
  }

  /** Adds a regular file under a name; nothing when it is not there. */
  async addFile(path: string, name: string): Promise<void> {
    const file = await ifThere(open(path, "r"));
    if (file === undefined) {
      return;
    }
    try {
      const { size, mode } = await file.stat();
      await this.#add({ name, size, mode: mode & 0o777 }, readExactly(file, size));
    } finally {
      await file.close();
    }
  }

  /** Adds a file that holds a text, readable by its owner only. */
  addText(name: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    return this.#add({ name, size: bytes.length, mode: 0o600 }, [bytes]);
  }

  /** Adds an entry of another archive under a name of its own. */
  addEntry(entry: ArchiveEntry, name: string): Promise<void> {
    const { type, mode, size, content } = entry;
    return type === "directory"
      ? this.#add({ name: `${name}/`, type, mode })
      : this.#add({ name, size, mode }, content);
  }

  /** Ends the archive. */
  end(): void {
    this.#pack.finalize();
  }

  /** Ends the stream with an error, so that whoever reads it knows that it is not whole. */
  destroy(error: Error): void {
    this.#pack.destroy(error);
  }

  async #add(header: EntryHeader, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = []): Promise<void> {
    this.#entries += 1;
    const { promise: done, resolve, reject } = Promise.withResolvers<void>();
    const sink = this.#pack.entry(header, (error) => (error ? reject(error) : resolve()));
    if (header.type === "directory") {
      return done;
    }
    for await (const chunk of content) {
      if (!sink.write(chunk)) {
        await Promise.race([new Promise<void>((go) => sink.once("drain", () => go())), done]);
      }
    }
    sink.end(null);
    await done;
  }
}

/** `size` bytes from the start of a file; zeros where it has become shorter. */
async function* readExactly(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  let position = 0;
  while (position < size) {
    const requested = Math.min(CHUNK, size - position);
    const { bytesRead, buffer } = await file.read(Buffer.alloc(requested), 0, requested, position);
    yield bytesRead === 0 ? buffer : buffer.subarray(0, bytesRead);
    position += bytesRead === 0 ? requested : bytesRead;
  }
}

/** What a call finds, or undefined where the file is gone by now. */
async function ifThere<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
