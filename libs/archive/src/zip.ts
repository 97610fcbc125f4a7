import { crc32 } from "node:zlib";

interface ZipFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const VERSION = 20;
/** Names are UTF-8 (bit 11 of the flags, APPNOTE 4.4.4). */
const FLAGS = 0x0800;
/** 1980-01-01: archives of the same files are the same bytes. */
const DATE = 0x21;
const LOCAL_HEADER = 0x04034b50;
const CENTRAL_HEADER = 0x02014b50;
const END = 0x06054b50;

/** A zip archive of files as they are: they are compressed already. One file at a time is in memory; below 4 GB in all. */
export async function* writeZip(files: AsyncIterable<ZipFile>): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, bytes } of files) {
    const encoded = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(VERSION, 0);
    facts.writeUInt16LE(FLAGS, 2);
    facts.writeUInt16LE(DATE, 8);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(bytes.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(encoded.length, 22);
    const head = Buffer.concat([signature(LOCAL_HEADER), facts, encoded]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([signature(CENTRAL_HEADER), shortOf(VERSION), facts, place, encoded]));
    offset += head.length + bytes.length;
    yield head;
    yield bytes;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(list.length, 8);
  end.writeUInt32LE(offset, 12);
  yield Buffer.concat([list, signature(END), end]);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function shortOf(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(value);
  return bytes;
}
