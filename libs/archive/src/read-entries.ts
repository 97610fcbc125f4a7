import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Readable, pipeline as connect } from "node:stream";
import { pipeline } from "node:stream/promises";

import { extract } from "tar-stream";

/** An archive that cannot be used: damaged, cut short, or made to do harm. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

export interface ArchiveEntry {
  /** Relative path of plain names with `/` between them; a directory's has none at its end. */
  readonly name: string;
  readonly type: "file" | "directory";
  readonly mode: number;
  readonly size: number;
  /** The file's bytes; must be read to the end before the next entry comes. */
  readonly content: AsyncIterable<Uint8Array>;
}

/**
 * The directories and files of a tar stream, one by one.
 * @throws {ArchiveError} for a name that leads out of the folder it is unpacked in, a link that is not to be skipped, a device, or a
 * stream that is no tar
 */
export async function* readEntries(
  source: Readable,
  { skipsLinks = false }: { readonly skipsLinks?: boolean } = {},
): AsyncGenerator<ArchiveEntry> {
  const tar = extract();
  const iterator = tar[Symbol.asyncIterator]();
  let current: { readonly destroy: (error: Error) => void } | undefined;
  let failure: Error | undefined;
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  // tar-stream does not always end its iteration, or the entry that is being read, when the source breaks off.
  connect(source, tar, (error) => {
    if (error) {
      failure = error;
      current?.destroy(error);
      failed.reject(error);
    }
  });
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), failed.promise]);
      if (next.done === true) {
        break;
      }
      const entry = next.value;
      current = entry;
      // Whoever reads it hears of the error; when nobody does yet, it is no reason to end the process.
      entry.on("error", () => undefined);
      // The source can break off between the entry's arrival and this line: then nobody would end the entry.
      if (failure !== undefined) {
        throw failure;
      }
      const { name, type, mode, size } = entry.header;
      if (skipsLinks && (type === "symlink" || type === "link")) {
        entry.resume();
        continue;
      }
      if (type !== "file" && type !== "directory") {
        throw new ArchiveError(
          `${JSON.stringify(name)} is a ${type ?? "thing of no type"}; only files and directories are allowed`,
        );
      }
      yield { name: checkName(name), type, mode, size, content: readContent(entry, () => failure) };
    }
  } catch (error) {
    throw toArchiveError(failure ?? error);
  } finally {
    source.destroy();
  }
}

/**
 * An entry's bytes by iteration alone: Node's `pipeline` waits forever for an entry of tar-stream that was destroyed before
 * `pipeline` got it.
 */
async function* readContent(
  entry: AsyncIterable<unknown>,
  findFailure: () => Error | undefined,
): AsyncGenerator<Uint8Array> {
  try {
    const failure = findFailure();
    if (failure !== undefined) {
      throw failure;
    }
    yield* entry as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw toArchiveError(findFailure() ?? error);
  }
}

function toArchiveError(error: unknown): ArchiveError {
  return error instanceof ArchiveError
    ? error
    : new ArchiveError(`the archive cannot be read: ${(error as Error).message}`, { cause: error });
}

/**
 * Writes an entry below a folder, under another relative name when one is given. An existing file is never written over.
 * Forcing everything to the disk is the caller's, once for all.
 */
export async function unpackEntry(entry: ArchiveEntry, folder: string, name: string = entry.name): Promise<void> {
  const path = join(folder, checkName(name));
  if (entry.type === "directory") {
    await mkdir(path, { recursive: true, mode: entry.mode & 0o777 });
    return;
  }
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, "wx", entry.mode & 0o777);
  try {
    await pipeline(entry.content, file.createWriteStream());
  } finally {
    await file.close();
  }
}

function checkName(name: string): string {
  const plain = name.replace(/\/$/, "");
  const parts = plain.split("/");
  if (plain.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) {
    throw new ArchiveError(`${JSON.stringify(name)} is no name that an archive may hold`);
  }
  return plain;
}
