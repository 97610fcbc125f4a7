import { crc32 } from "node:zlib";

/** Bytes that have a checksum of their own: what a read of any of them has to read. */
export const CONTENT_BLOCK_BYTES = 64 << 10;
const TAIL_BYTES = 32;
const MAGIC = Buffer.from("SWOBJ\0\0\u0001", "latin1");

/**
 * What a content file says of itself, so that an index that is lost can be made anew: JSON at its end, after the checksums of
 * its blocks. The digests are added when the file is finished.
 */
export interface ContentLabel {
  /** `object`: a whole version. `part`: a part of an upload. `version`: a version whose bytes are in other files. */
  readonly kind: "object" | "part" | "version";
  readonly bucket: string;
  readonly key: string;
  readonly [name: string]: unknown;
}

/** Where the trailer of a file lies, and what is in it. */
export interface Trailer {
  readonly size: number;
  readonly label: (ContentLabel & { readonly digests: Readonly<Record<string, string>> }) | undefined;
}

/** Checksums of the blocks of one file, added as its bytes come. */
export class BlockChecksums {
  #table = Buffer.alloc(64);
  #count = 0;

  /** Bytes from the beginning of a block on; only the last bytes of a file may end within a block. */
  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += CONTENT_BLOCK_BYTES) {
      if (this.#count * 4 === this.#table.length) {
        this.#table = Buffer.concat([this.#table, Buffer.alloc(this.#table.length)]);
      }
      this.#table.writeUInt32LE(crc32(bytes.subarray(at, at + CONTENT_BLOCK_BYTES)), this.#count * 4);
      this.#count += 1;
    }
  }

  /** What follows the `size` bytes of content. */
  toTrailer(size: number, label: object): Buffer {
    const table = this.#table.subarray(0, this.#count * 4);
    const text = Buffer.from(JSON.stringify(label));
    const tail = Buffer.alloc(TAIL_BYTES);
    MAGIC.copy(tail);
    tail.writeUInt32LE(text.length, 8);
    tail.writeUInt32LE(crc32(text, crc32(table)), 12);
    tail.writeBigUInt64LE(BigInt(size), 16);
    tail.writeUInt32LE(CONTENT_BLOCK_BYTES, 24);
    tail.writeUInt32LE(crc32(tail.subarray(0, 28)), 28);
    return Buffer.concat([table, text, tail]);
  }
}

interface Source {
  readonly read: (buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesRead: number }>;
  readonly stat: () => Promise<{ size: number }>;
}

/** Reads what a content file says of itself; undefined when it has no sound trailer. */
export async function readTrailer(source: Source): Promise<Trailer | undefined> {
  const { size: length } = await source.stat();
  const tail = await readExactly(source, length - TAIL_BYTES, TAIL_BYTES);
  if (!tail?.subarray(0, 8).equals(MAGIC) || tail.readUInt32LE(28) !== crc32(tail.subarray(0, 28))) {
    return undefined;
  }
  const size = Number(tail.readBigUInt64LE(16));
  const table = tableBytes(size);
  const text = tail.readUInt32LE(8);
  if (size + table + text + TAIL_BYTES !== length) {
    return undefined;
  }
  const body = await readExactly(source, size, table + text);
  if (body === undefined || crc32(body) !== tail.readUInt32LE(12)) {
    return undefined;
  }
  return { size, label: JSON.parse(body.subarray(table).toString()) as Trailer["label"] };
}

function tableBytes(size: number): number {
  return Math.ceil(size / CONTENT_BLOCK_BYTES) * 4;
}

async function readExactly(source: Source, position: number, length: number): Promise<Buffer | undefined> {
  if (position < 0) {
    return undefined;
  }
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await source.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) {
      return undefined;
    }
    done += bytesRead;
  }
  return buffer;
}
