import { crc32 } from "node:zlib";

export interface ZipFile {
  /** In the archive, with `/` between folders. */
  readonly name: string;
  /** Bytes, or what opens a stream of them: then checksum and size are written after the data. */
  readonly content: Uint8Array | (() => Promise<AsyncIterable<Uint8Array>>);
  /** UTC; 1980-01-01 when left out, so that archives of the same files are the same bytes. */
  readonly modified?: Date;
}

/** A file's line in the central directory. */
interface Written {
  readonly name: Buffer;
  readonly time: DosTime;
  readonly checksum: number;
  readonly size: number;
  readonly offset: number;
  readonly isStreamed: boolean;
}

type DosTime = readonly [time: number, date: number];

/** Names are UTF-8 (bit 11 of the flags, APPNOTE 4.4.4). */
const UTF8_NAME = 0x0800;
/** Checksum and sizes follow the data (bit 3). */
const SIZES_AFTER = 0x0008;
const VERSION = 20;
/** The version that knows Zip64 (APPNOTE 4.4.3.2). */
const VERSION_ZIP64 = 45;
const MAX_UINT16 = 0xff_ff;
const MAX_UINT32 = 0xff_ff_ff_ff;

/**
 * A zip archive of files as they are: what is put in is compressed already. Files given as bytes below 4 GiB need no Zip64;
 * of streams nobody knows the size, so theirs has eight bytes (APPNOTE 4.5.3).
 */
export async function* writeZip(files: AsyncIterable<ZipFile> | Iterable<ZipFile>): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  let count = 0;
  let isZip64 = false;
  for await (const { name, content, modified } of files) {
    const encoded = Buffer.from(name);
    const time = modified === undefined ? ([0, 0x21] as const) : toDosTime(modified);
    const isStreamed = typeof content === "function";
    const known = isStreamed ? { checksum: 0, size: 0 } : { checksum: crc32(content), size: content.length };
    const head = localHeader(encoded, time, known, isStreamed);
    yield head;
    let { checksum, size } = known;
    let after = Buffer.alloc(0);
    if (isStreamed) {
      for await (const chunk of await content()) {
        checksum = crc32(chunk, checksum);
        size += chunk.length;
        yield chunk;
      }
      after = dataDescriptor(checksum, size);
      yield after;
    } else {
      yield content;
    }
    directory.push(centralHeader({ name: encoded, time, checksum, size, offset, isStreamed }));
    isZip64 ||= isStreamed || offset > MAX_UINT32;
    offset += head.length + size + after.length;
    count += 1;
  }
  const list = Buffer.concat(directory);
  isZip64 ||= offset + list.length > MAX_UINT32 || count > MAX_UINT16;
  yield list;
  yield isZip64 ? zip64End(count, list.length, offset) : plainEnd(count, list.length, offset);
}

function localHeader(
  name: Buffer,
  time: DosTime,
  { checksum, size }: { readonly checksum: number; readonly size: number },
  isStreamed: boolean,
): Buffer {
  const bytes = Buffer.alloc(30);
  bytes.writeUInt32LE(0x04_03_4b_50, 0);
  bytes.writeUInt16LE(isStreamed ? VERSION_ZIP64 : VERSION, 4);
  bytes.writeUInt16LE(isStreamed ? UTF8_NAME | SIZES_AFTER : UTF8_NAME, 6);
  writeTime(bytes, 10, time);
  bytes.writeUInt32LE(checksum, 14);
  bytes.writeUInt32LE(isStreamed ? MAX_UINT32 : size, 18);
  bytes.writeUInt32LE(isStreamed ? MAX_UINT32 : size, 22);
  bytes.writeUInt16LE(name.length, 26);
  // The field says that the sizes after the data have eight bytes.
  const extra = isStreamed ? zip64Field([0, 0]) : Buffer.alloc(0);
  bytes.writeUInt16LE(extra.length, 28);
  return Buffer.concat([bytes, name, extra]);
}

function dataDescriptor(checksum: number, size: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32LE(0x08_07_4b_50, 0);
  bytes.writeUInt32LE(checksum, 4);
  bytes.writeBigUInt64LE(BigInt(size), 8);
  bytes.writeBigUInt64LE(BigInt(size), 16);
  return bytes;
}

function centralHeader({ name, time, checksum, size, offset, isStreamed }: Written): Buffer {
  const isZip64 = isStreamed || offset > MAX_UINT32;
  const extra = isZip64 ? zip64Field([size, size, offset]) : Buffer.alloc(0);
  const bytes = Buffer.alloc(46);
  bytes.writeUInt32LE(0x02_01_4b_50, 0);
  bytes.writeUInt16LE(isZip64 ? VERSION_ZIP64 : VERSION, 4);
  bytes.writeUInt16LE(isZip64 ? VERSION_ZIP64 : VERSION, 6);
  bytes.writeUInt16LE(isStreamed ? UTF8_NAME | SIZES_AFTER : UTF8_NAME, 8);
  writeTime(bytes, 12, time);
  bytes.writeUInt32LE(checksum, 16);
  bytes.writeUInt32LE(isZip64 ? MAX_UINT32 : size, 20);
  bytes.writeUInt32LE(isZip64 ? MAX_UINT32 : size, 24);
  bytes.writeUInt16LE(name.length, 28);
  bytes.writeUInt16LE(extra.length, 30);
  bytes.writeUInt32LE(isZip64 ? MAX_UINT32 : offset, 42);
  return Buffer.concat([bytes, name, extra]);
}

function zip64Field(values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 + values.length * 8);
  bytes.writeUInt16LE(1, 0);
  bytes.writeUInt16LE(values.length * 8, 2);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt(value), 4 + index * 8));
  return bytes;
}

function plainEnd(count: number, length: number, offset: number): Buffer {
  const bytes = Buffer.alloc(22);
  bytes.writeUInt32LE(0x06_05_4b_50, 0);
  bytes.writeUInt16LE(count, 8);
  bytes.writeUInt16LE(count, 10);
  bytes.writeUInt32LE(length, 12);
  bytes.writeUInt32LE(offset, 16);
  return bytes;
}

/** The Zip64 end of the central directory, its locator, and the plain end that points to them (APPNOTE 4.3.14 to 4.3.16). */
function zip64End(count: number, length: number, offset: number): Buffer {
  const bytes = Buffer.alloc(56 + 20 + 22);
  bytes.writeUInt32LE(0x06_06_4b_50, 0);
  bytes.writeBigUInt64LE(44n, 4);
  bytes.writeUInt16LE(VERSION_ZIP64, 12);
  bytes.writeUInt16LE(VERSION_ZIP64, 14);
  bytes.writeBigUInt64LE(BigInt(count), 24);
  bytes.writeBigUInt64LE(BigInt(count), 32);
  bytes.writeBigUInt64LE(BigInt(length), 40);
  bytes.writeBigUInt64LE(BigInt(offset), 48);
  bytes.writeUInt32LE(0x07_06_4b_50, 56);
  bytes.writeBigUInt64LE(BigInt(offset + length), 64);
  bytes.writeUInt32LE(1, 72);
  bytes.writeUInt32LE(0x06_05_4b_50, 76);
  bytes.writeUInt16LE(MAX_UINT16, 84);
  bytes.writeUInt16LE(MAX_UINT16, 86);
  bytes.writeUInt32LE(MAX_UINT32, 88);
  bytes.writeUInt32LE(MAX_UINT32, 92);
  return bytes;
}

/** MS-DOS time and date, from 1980 on. */
function toDosTime(time: Date): DosTime {
  const year = Math.max(0, time.getUTCFullYear() - 1980);
  return [
    (time.getUTCHours() << 11) | (time.getUTCMinutes() << 5) | (time.getUTCSeconds() >> 1),
    (year << 9) | ((time.getUTCMonth() + 1) << 5) | time.getUTCDate(),
  ];
}

function writeTime(bytes: Buffer, at: number, [time, date]: DosTime): void {
  bytes.writeUInt16LE(time, at);
  bytes.writeUInt16LE(date, at + 2);
}
