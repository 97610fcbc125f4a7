import { readFile, readdir, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type FoundItem, type StacCollection, walkItems } from "@swath/stac";

import { StagingError } from "../errors.ts";

const MAX_DOCUMENT = 32 * 2 ** 20;
const MAX_DEPTH = 8;

/** What a job left. */
export interface Output {
  /** Items of all catalogues; undefined when there is no catalogue and `files` are the result. */
  readonly items: readonly FoundItem[] | undefined;
  /** The collections of the catalogues, with the address of their documents. */
  readonly collections: readonly { readonly collection: StacCollection; readonly href: string }[];
  /** Every regular file that lies in no catalogue's directory, relative to the directory: a result by itself. */
  readonly files: readonly string[];
}

/**
 * Reads an output directory. Several catalogues (a step per scene) count as one.
 * @throws {StagingError} for broken documents, links that leave the directory, and an empty directory
 */
export async function readOutput(directory: string): Promise<Output> {
  const root = await realpath(directory);
  const { files, uncovered, catalogs } = await scan(root);
  if (files.length === 0) {
    throw new StagingError("output", directory, "is empty: the application has written no result");
  }
  if (catalogs.length === 0) {
    return { items: undefined, collections: [], files };
  }
  const items: FoundItem[] = [];
  const collections: { collection: StacCollection; href: string }[] = [];
  const read = async (href: string) => ({ href, value: await readJson(href, root) });
  const seen = new Set<string>();
  for (const catalog of catalogs) {
    const start = await read(pathToFileURL(join(root, catalog)).href);
    const onCollection = (collection: StacCollection, href: string) => collections.push({ collection, href });
    for await (const found of walkItems(start, { read, onCollection })) {
      if (!seen.has(found.href)) {
        seen.add(found.href);
        items.push(found);
      }
    }
  }
  return { items, collections, files: uncovered };
}

/** All files, those outside of catalogues, and the topmost `catalog.json` (or `collection.json`) of each branch. */
async function scan(
  root: string,
): Promise<{ readonly files: string[]; readonly uncovered: string[]; readonly catalogs: string[] }> {
  const files: string[] = [];
  const uncovered: string[] = [];
  const catalogs: string[] = [];
  const visit = async (folder: string, depth: number, isCovered: boolean): Promise<void> => {
    const entries = (await readdir(join(root, folder), { withFileTypes: true })).toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    const names = new Set(entries.map(({ name }) => name));
    const catalog = ["catalog.json", "collection.json"].find((name) => names.has(name));
    if (catalog !== undefined && !isCovered) {
      catalogs.push(join(folder, catalog));
    }
    for (const entry of entries) {
      const path = join(folder, entry.name);
      const kind = entry.isSymbolicLink() ? await kindOfLink(root, path) : entry;
      // Devices, sockets and pipes are no results.
      if (kind?.isFile() === true) {
        files.push(path);
        if (!isCovered && catalog === undefined) {
          uncovered.push(path);
        }
      } else if (entry.isDirectory() && depth < MAX_DEPTH) {
        await visit(path, depth + 1, isCovered || catalog !== undefined);
      }
    }
  };
  await visit("", 0, false);
  return { files, uncovered, catalogs };
}

/** What a link inside the directory leads to; undefined for one that leads out of it or nowhere. */
async function kindOfLink(root: string, path: string) {
  try {
    return await stat(await insideOnly(join(root, path), root));
  } catch (error) {
    if (error instanceof StagingError) {
      return undefined;
    }
    throw error;
  }
}

async function readJson(href: string, root: string): Promise<unknown> {
  if (!href.startsWith("file:")) {
    throw new StagingError("output", href, "is linked from the output's catalogue, but is no part of the output");
  }
  const path = await insideOnly(fileURLToPath(href), root);
  if ((await stat(path)).size > MAX_DOCUMENT) {
    throw new StagingError("output", path, `is longer than the ${MAX_DOCUMENT} bytes allowed for a document`);
  }
  try {
    return JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new StagingError("output", relative(root, path), `is not JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * The file that an `href` of a local document means; undefined for addresses elsewhere, which stay as they are.
 * @param base address of the document
 */
export async function findLocal(href: string, base: string, directory: string): Promise<string | undefined> {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href) && !href.startsWith("file:")) {
    return undefined;
  }
  const root = await realpath(directory);
  if (href.startsWith("file:")) {
    return insideOnly(fileURLToPath(href), root);
  }
  // Tools write names as they are or with escapes; a file by the very name comes first.
  const folder = dirname(fileURLToPath(base));
  const asWritten = isAbsolute(href) ? href : resolve(folder, href);
  const exists = await stat(asWritten).then(
    () => true,
    () => false,
  );
  return insideOnly(exists ? asWritten : fileURLToPath(new URL(href, base)), root);
}

async function insideOnly(path: string, root: string): Promise<string> {
  let real: string;
  try {
    real = await realpath(path);
  } catch (error) {
    throw new StagingError("output", relative(root, path), "is linked from the output, but there is no such file", {
      cause: error,
    });
  }
  if (real !== root && !real.startsWith(`${root}/`)) {
    throw new StagingError(
      "output",
      relative(root, path),
      "leads out of the output directory; results must be files in it",
    );
  }
  return real;
}
