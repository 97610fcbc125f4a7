import { constants as files, existsSync } from "node:fs";
import { access, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

import { webFolder } from "./web-sources.ts";

/** `fast` takes a second for all apps, `best` half a minute for a tenth less. */
export type Effort = "fast" | "best";

const COMPRESSIBLE = /\.(?:js|mjs|css|svg|json|geojson|txt|md|wasm|map|xml)$/;
/** Below this, headers are longer than what is saved. */
const MIN_BYTES = 1024;
const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

/**
 * Writes `<file>.br` and `<file>.gz` beside the assets of a built app that have none yet. The service sends an asset as it is
 * where there is neither, so that a checkout which cannot be written to works as well.
 */
export async function compressWeb(root: string, component: string, effort: Effort): Promise<void> {
  const assets = join(webFolder(root, component), "dist/assets");
  const isWritable = await access(assets, files.W_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable) {
    return;
  }
  for (const name of await readdir(assets)) {
    const file = join(assets, name);
    if (COMPRESSIBLE.test(name) && !existsSync(`${file}.gz`)) {
      await compressFile(file, effort);
    }
  }
}

async function compressFile(file: string, effort: Effort): Promise<void> {
  const content = await readFile(file);
  const size = content.length;
  if (size < MIN_BYTES) {
    return;
  }
  // The last levels of brotli take seconds for a large file and save little there.
  const best = size > 1 << 20 ? 9 : 11;
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: effort === "best" ? best : 4,
    [constants.BROTLI_PARAM_SIZE_HINT]: size,
  };
  const [brotli, gzipped] = await Promise.all([
    toBrotli(content, { params }),
    toGzip(content, { level: effort === "best" ? 9 : 6 }),
  ]);
  // The one that says that both are there comes last.
  await writeFile(`${file}.br`, brotli);
  await writeFile(`${file}.gz`, gzipped);
}
