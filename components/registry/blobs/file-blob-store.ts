import { createReadStream } from "node:fs";
import { type FileHandle, access, constants, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

import type { BlobStore, BlobWriter, WriterStart } from "./blob-store.ts";

/** Chunks are written together: a call for each costs more than the bytes do. */
const WRITE_BYTES = 512 << 10;
const READ_BYTES = 512 << 10;

/** Content as files of a folder that one process writes to. */
export async function openFileBlobStore(directory: string): Promise<BlobStore> {
  const root = join(directory, "blobs");
  for (let index = 0; index < 256; index++) {
    await mkdir(join(root, index.toString(16).padStart(2, "0")), { recursive: true });
  }
  await syncFolder(root);
  const pathOf = (id: string) => join(root, id.slice(0, 2), id);
  return {
    openWriter: (start) => openWriter(pathOf(start.id), start),
    read: async (id, { start, end }) => {
      const handle = await open(pathOf(id), "r");
      return createReadStream("", {
        fd: handle,
        start,
        // An empty file has no last byte.
        end: Math.max(start, end),
        highWaterMark: READ_BYTES,
      });
    },
    presign: undefined,
    remove: (id) => rm(pathOf(id), { force: true }),
    check: () => access(root, constants.W_OK),
    close: async () => {},
  };
}

async function openWriter(path: string, { received }: WriterStart): Promise<BlobWriter> {
  const handle = await openFile(path, received);
  await handle.truncate(received);
  let position = received;
  let gathered: Buffer[] = [];
  let bytes = 0;
  const write = async () => {
    const [chunks, length] = [gathered, bytes];
    gathered = [];
    bytes = 0;
    if (length > 0) {
      await writeAll(handle, chunks, length, position);
      position += length;
    }
  };
  const sync = async () => {
    await write();
    await handle.datasync();
    if (received === 0) {
      await syncFolder(dirname(path));
    }
  };
  return {
    write: (chunk) => {
      gathered.push(chunk);
      bytes += chunk.length;
      return bytes >= WRITE_BYTES ? write() : undefined;
    },
    pause: async () => {
      await sync();
      return {};
    },
    finish: sync,
    close: () => handle.close(),
  };
}

/** A new upload makes its file; a later writer that finds none would go on behind a hole. */
function openFile(path: string, received: number): Promise<FileHandle> {
  return open(path, received === 0 ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR, 0o600);
}

async function writeAll(
  handle: FileHandle,
  chunks: readonly Buffer[],
  length: number,
  position: number,
): Promise<void> {
  const { bytesWritten } = await handle.writev(chunks as Buffer[], position);
  if (bytesWritten < length) {
    const rest = Buffer.concat(chunks).subarray(bytesWritten);
    for (let done = 0; done < rest.length;) {
      done += (await handle.write(rest, done, rest.length - done, position + bytesWritten + done)).bytesWritten;
    }
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
