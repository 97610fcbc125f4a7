import { invalidRaster } from "../../errors.ts";
import { MAX_DIRECTORIES, MAX_TAGS_PER_DIRECTORY } from "../../limits.ts";
import type { MetadataReader } from "./metadata-reader.ts";

/**
 * Walks the chain of directories before anything is made of them: it must end, and be short.
 * @throws {RasterError} `invalid-raster` for what is no TIFF, loops, or claims too much
 */
export async function checkDirectories(reader: MetadataReader, signal?: AbortSignal): Promise<void> {
  const head = await reader.read(0, 16, signal);
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const order = view.getUint16(0, false);
  const isLittle = order === 0x4949;
  const version = view.getUint16(2, isLittle);
  if ((order !== 0x4949 && order !== 0x4d4d) || (version !== 42 && version !== 43)) {
    throw invalidRaster("The file is not a TIFF.");
  }
  const isBig = version === 43;
  const [countBytes, entryBytes, pointerBytes] = isBig ? [8, 20, 8] : [2, 12, 4];
  const readUint = (bytes: Uint8Array, at: number, width: number) => {
    const data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return width === 8
      ? Number(data.getBigUint64(at, isLittle))
      : width === 4
        ? data.getUint32(at, isLittle)
        : data.getUint16(at, isLittle);
  };
  const seen = new Set<number>();
  for (let offset = readUint(head, isBig ? 8 : 4, pointerBytes); offset !== 0;) {
    if (seen.has(offset)) {
      throw invalidRaster("The directories of the TIFF form a loop.");
    }
    seen.add(offset);
    if (seen.size > MAX_DIRECTORIES) {
      throw invalidRaster(`The TIFF has more than ${MAX_DIRECTORIES} directories.`);
    }
    const tags = readUint(await reader.read(offset, countBytes, signal), 0, countBytes);
    if (tags === 0 || tags > MAX_TAGS_PER_DIRECTORY) {
      throw invalidRaster(`A directory of the TIFF claims ${tags} tags.`);
    }
    offset = readUint(
      await reader.read(offset + countBytes + tags * entryBytes, pointerBytes, signal),
      0,
      pointerBytes,
    );
  }
}
