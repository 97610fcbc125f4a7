import { statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

import { RasterError, checkCancelled } from "../errors.ts";
import type { FileLocation, Source } from "./source.ts";

interface Identity {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Opens a file of this machine. Only regular files: a device or pipe would never end. */
export async function openFileSource({ path }: FileLocation): Promise<Source> {
  let handle: FileHandle;
  try {
    handle = await open(path, "r");
  } catch (error) {
    throw toSourceError(error);
  }
  const identity = await handle.stat();
  if (!identity.isFile()) {
    await handle.close();
    throw new RasterError("not-found", "The source is not a regular file.");
  }
  const version = toVersion(identity);
  return {
    key: `file:${path}#${version}`,
    size: identity.size,
    read: async (offset, length, signal) => {
      checkCancelled(signal);
      const requested = Math.max(0, Math.min(length, identity.size - offset));
      const bytes = Buffer.allocUnsafeSlow(requested);
      for (let done = 0; done < requested;) {
        const { bytesRead } = await handle.read(bytes, done, requested - done, offset + done);
        if (bytesRead === 0) {
          throw new RasterError("changed", "The file became shorter while it was read.");
        }
        done += bytesRead;
      }
      return bytes;
    },
    isCurrent: async () => {
      try {
        // Synchronous: a microsecond or two, a tenth of what the thread pool takes.
        const now = statSync(path, { throwIfNoEntry: false });
        return now !== undefined && toVersion(now) === version;
      } catch {
        return false;
      }
    },
    close: () => handle.close(),
  };
}

function toVersion({ ino, size, mtimeMs }: Identity): string {
  return `${ino}-${size}-${mtimeMs}`;
}

function toSourceError(error: unknown): RasterError {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  return ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"].includes(code)
    ? new RasterError("not-found", "The source does not exist.", { cause: error })
    : ["EACCES", "EPERM"].includes(code)
      ? new RasterError("forbidden", "The source may not be read.", { cause: error })
      : new RasterError("unavailable", `The source cannot be read (${code}).`, { cause: error });
}
