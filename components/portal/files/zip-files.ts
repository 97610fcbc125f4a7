import type { Readable } from "node:stream";
import { crc32 } from "node:zlib";

import { Problem } from "@swath/service";

import type { Bucket } from "./workspace-storage.ts";

/** Files of one archive; the list of them is made before the first byte is sent. */
const MAX_FILES = 20_000;

export interface ZipEntry {
  readonly key: string;
  /** In the archive. */
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * The files of keys and folders (with their slash), named from where they lie together.
 * @throws {Problem} 404 without any, 413 for too many
 */
export async function listZipEntries(
  { client, name: bucket }: Bucket,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly ZipEntry[]> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const entries: ZipEntry[] = [];
  for (const chosen of keys) {
    const base = chosen.replace(/\/$/, "").lastIndexOf("/") + 1;
    let after: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: chosen,
          // Of a single file only itself is taken; its name sorts first among those that begin with it.
          ...(!chosen.endsWith("/") && { MaxKeys: 1 }),
          ...(after !== undefined && { ContinuationToken: after }),
        }),
        { abortSignal: signal },
      );
      for (const { Key: key, Size: size = 0, LastModified: modified = new Date(0) } of page.Contents ?? []) {
        if (key !== undefined && !key.endsWith("/") && (chosen.endsWith("/") || key === chosen)) {
          entries.push({ key, name: key.slice(base), size, modified });
        }
      }
      if (entries.length > MAX_FILES) {
        throw new Problem(413, `These are more than ${MAX_FILES} files; fetch them in parts, or with an S3 program.`);
      }
      after = chosen.endsWith("/") ? page.NextContinuationToken : undefined;
    } while (after !== undefined);
  }
  if (entries.length === 0) {
    throw new Problem(404, "There are no such files.");
  }
  return entries;
}

/** A zip archive of files as they are (scenes are compressed already), sent while they are read. */
export async function* zipFiles(
  { client, name: bucket }: Bucket,
  entries: readonly ZipEntry[],
  abortSignal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { GetObjectCommand } = await import("@aws-sdk/client-s3");
  const open = async (key: string) =>
    (await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal })).Body as Readable;
  yield* writeZip(entries, open);
}

/** Names are UTF-8 (bit 11), checksum and sizes follow the data (bit 3): APPNOTE 4.4.4. Zip64 sizes throughout (APPNOTE 4.5.3). */
const FLAGS = 0x0808;
const VERSION = 45;
const MAX_UINT32 = 0xff_ff_ff_ff;

/** The bytes of an archive. Pure but for `open`. */
export async function* writeZip(
  entries: readonly ZipEntry[],
  open: (key: string) => Promise<AsyncIterable<Uint8Array>>,
): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { key, name, modified } of entries) {
    const encoded = Buffer.from(name);
    // In the local header the Zip64 field says that the sizes after the data have eight bytes.
    const head = Buffer.concat([localHeader(encoded, modified), encoded, zip64Field([0, 0])]);
    yield head;
    let checksum = 0;
    let size = 0;
    for await (const chunk of await open(key)) {
      checksum = crc32(chunk, checksum);
      size += chunk.length;
      yield chunk;
    }
    const after = Buffer.alloc(24);
    after.writeUInt32LE(0x08_07_4b_50, 0);
    after.writeUInt32LE(checksum, 4);
    after.writeBigUInt64LE(BigInt(size), 8);
    after.writeBigUInt64LE(BigInt(size), 16);
    yield after;
    directory.push(centralHeader(encoded, modified, checksum), encoded, zip64Field([size, size, offset]));
    offset += head.length + size + after.length;
  }
  const list = Buffer.concat(directory);
  yield list;
  yield endOfArchive(entries.length, list.length, offset);
}

function localHeader(name: Buffer, modified: Date): Buffer {
  const bytes = Buffer.alloc(30);
  bytes.writeUInt32LE(0x04_03_4b_50, 0);
  bytes.writeUInt16LE(VERSION, 4);
  bytes.writeUInt16LE(FLAGS, 6);
  writeDosTime(bytes, 10, modified);
  bytes.writeUInt32LE(MAX_UINT32, 18);
  bytes.writeUInt32LE(MAX_UINT32, 22);
  bytes.writeUInt16LE(name.length, 26);
  bytes.writeUInt16LE(20, 28);
  return bytes;
}

function centralHeader(name: Buffer, modified: Date, checksum: number): Buffer {
  const bytes = Buffer.alloc(46);
  bytes.writeUInt32LE(0x02_01_4b_50, 0);
  bytes.writeUInt16LE(VERSION, 4);
  bytes.writeUInt16LE(VERSION, 6);
  bytes.writeUInt16LE(FLAGS, 8);
  writeDosTime(bytes, 12, modified);
  bytes.writeUInt32LE(checksum, 16);
  bytes.writeUInt32LE(MAX_UINT32, 20);
  bytes.writeUInt32LE(MAX_UINT32, 24);
  bytes.writeUInt16LE(name.length, 28);
  bytes.writeUInt16LE(28, 30);
  bytes.writeUInt32LE(MAX_UINT32, 42);
  return bytes;
}

function zip64Field(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + values.length * 8);
  bytes.writeUInt16LE(1, 0);
  bytes.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), 4 + index * 8));
  return bytes;
}

/** The Zip64 end of the central directory, its locator, and the former end with everything "see there". */
function endOfArchive(count: number, length: number, offset: number): Buffer {
  const bytes = Buffer.alloc(56 + 20 + 22);
  bytes.writeUInt32LE(0x06_06_4b_50, 0);
  bytes.writeBigUInt64LE(44n, 4);
  bytes.writeUInt16LE(VERSION, 12);
  bytes.writeUInt16LE(VERSION, 14);
  bytes.writeBigUInt64LE(BigInt(count), 24);
  bytes.writeBigUInt64LE(BigInt(count), 32);
  bytes.writeBigUInt64LE(BigInt(length), 40);
  bytes.writeBigUInt64LE(BigInt(offset), 48);
  bytes.writeUInt32LE(0x07_06_4b_50, 56);
  bytes.writeBigUInt64LE(BigInt(offset + length), 64);
  bytes.writeUInt32LE(1, 72);
  bytes.writeUInt32LE(0x06_05_4b_50, 76);
  bytes.writeUInt16LE(0xff_ff, 84);
  bytes.writeUInt16LE(0xff_ff, 86);
  bytes.writeUInt32LE(MAX_UINT32, 88);
  bytes.writeUInt32LE(MAX_UINT32, 92);
  return bytes;
}

/** MS-DOS time and date, UTC, from 1980 on. */
function writeDosTime(bytes: Buffer, at: number, time: Date): void {
  const year = Math.max(0, time.getUTCFullYear() - 1980);
  bytes.writeUInt16LE((time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1), at);
  bytes.writeUInt16LE((year << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate(), at + 2);
}
