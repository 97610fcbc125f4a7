import { createReadStream } from "node:fs";
import { type FileHandle, access, constants, mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Writable } from "node:stream";

import { detachChunk } from "@swath/service";

import type { ByteRange } from "../protocol/range.ts";
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
    send: (id, range, target) => sendFile(pathOf(id), range, target),
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
  // One piece of memory for the whole upload: what comes is copied, and its own memory given back at once.
  const buffer = Buffer.allocUnsafeSlow(WRITE_BYTES);
  let bytes = 0;
  const write = async () => {
    for (let done = 0; done < bytes;) {
      done += (await handle.write(buffer, done, bytes - done, position + done)).bytesWritten;
    }
    position += bytes;
    bytes = 0;
  };
  const writeRest = async (chunk: Buffer) => {
    for (let taken = 0; taken < chunk.length;) {
      if (bytes === WRITE_BYTES) {
        await write();
      }
      const copied = chunk.copy(buffer, bytes, taken);
      taken += copied;
      bytes += copied;
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
      if (bytes + chunk.length > WRITE_BYTES) {
        return writeRest(chunk);
      }
      chunk.copy(buffer, bytes);
      bytes += chunk.length;
      return undefined;
    },
    pause: async () => {
      await sync();
      return {};
    },
    finish: sync,
    close: async () => {
      await handle.close();
      detachChunk(buffer);
    },
  };
}

/** A new upload makes its file; a later writer that finds none would go on behind a hole. */
function openFile(path: string, received: number): Promise<FileHandle> {
  return open(path, received === 0 ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR, 0o600);
}

/** Sends a part of a file from two pieces of memory in turn: one is read into while the other is on its way. */
async function sendFile(path: string, { start, end }: ByteRange, target: Writable): Promise<void> {
  const handle = await open(path, "r");
  const buffers = [Buffer.allocUnsafeSlow(READ_BYTES), Buffer.allocUnsafeSlow(READ_BYTES)] as const;
  // What waits for a connection that is gone is told of nothing else.
  const gone = new Promise<never>((_resolve, reject) => {
    target.once("close", () => reject(new Error("the receiver went away")));
  });
  gone.catch(() => undefined);
  const sent: [Promise<void>, Promise<void>] = [Promise.resolve(), Promise.resolve()];
  try {
    let turn: 0 | 1 = 0;
    for (let position = start; position <= end; turn = turn === 0 ? 1 : 0) {
      await Promise.race([sent[turn], gone]);
      const buffer = buffers[turn];
      const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BYTES, end + 1 - position), position);
      if (bytesRead === 0) {
        throw new Error(`${path} ends at ${position}, before ${end + 1}`);
      }
      sent[turn] = write(target, buffer.subarray(0, bytesRead));
      // Who went away is noticed when it is waited for.
      sent[turn].catch(() => undefined);
      position += bytesRead;
    }
    await Promise.race([Promise.all(sent), gone]);
    target.end();
  } finally {
    await handle.close();
  }
}

/** Resolves when nobody needs the chunk any more. */
function write(target: Writable, chunk: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    target.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
