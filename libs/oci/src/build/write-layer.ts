import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { pack } from "tar-stream";

import type { LayerEntry } from "./context.ts";

export interface WrittenLayer {
  /** Of the compressed archive. */
  readonly digest: string;
  readonly size: number;
  /** Digest of the archive before it was compressed. */
  readonly diffId: string;
}

/** Writes files as a layer: a compressed tar archive, the same for the same files. */
export async function writeLayer(
  path: string,
  entries: readonly LayerEntry[],
  { uid, gid }: { readonly uid: number; readonly gid: number },
): Promise<WrittenLayer> {
  const archive = pack();
  const [plain, packed] = [createHash("sha256"), createHash("sha256")];
  let size = 0;
  const fill = async () => {
    for (const { name, type, path: file, mode, size: bytes, mtime, linkname } of entries) {
      const header = { name, type, mode, uid, gid, mtime, size: bytes, ...(linkname !== undefined && { linkname }) };
      if (type !== "file") {
        archive.entry(header);
        continue;
      }
      await pipeline(
        bytes === 0 ? Readable.from([]) : createReadStream(file, { end: bytes - 1 }),
        archive.entry(header),
      );
    }
    archive.finalize();
  };
  const written = pipeline(
    Readable.from(archive as AsyncIterable<Buffer>),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        plain.update(chunk);
        yield chunk;
      }
    },
    createGzip(),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        packed.update(chunk);
        size += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(path, { mode: 0o600 }),
  );
  await Promise.all([
    written,
    fill().catch((error: unknown) => {
      archive.destroy(error as Error);
      throw error;
    }),
  ]);
  return { digest: `sha256:${packed.digest("hex")}`, size, diffId: `sha256:${plain.digest("hex")}` };
}
