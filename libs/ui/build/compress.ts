import { readFile, stat, writeFile } from "node:fs/promises";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const COMPRESSIBLE = /\.(?:js|mjs|css|svg|json|geojson|txt|md|wasm|map|xml)$/;
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

/** Writes `<file>.br` and `<file>.gz` beside a file where that saves anything, and gives the paths it wrote. */
export async function compressFile(file: string): Promise<readonly string[]> {
  const { size } = await stat(file);
  if (!COMPRESSIBLE.test(file) || size < 1024) {
    return [];
  }
  const content = await readFile(file);
  // The last levels of brotli take seconds for a large file and save little there.
  const quality = size > 1 << 20 ? 9 : 11;
  const made = await Promise.all([
    toBrotli(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size },
    }),
    toGzip(content, { level: 9 }),
  ]);
  const written: string[] = [];
  for (const [index, suffix] of [".br", ".gz"].entries()) {
    const compressed = made[index];
    if (compressed !== undefined && compressed.length < size * 0.9) {
      await writeFile(file + suffix, compressed);
      written.push(file + suffix);
    }
  }
  return written;
}
