import { readFile, stat } from "node:fs/promises";
import { CwlError, messageOf } from "../errors.ts";
import { filePath, refuseKeep } from "./uri.ts";

/**
 * How documents and inputs that are not local files are reached. The caller decides what may be reached at all:
 * without a fetcher only `file:` works.
 */
export interface Fetcher {
  /** Text of a document of at most `limit` bytes. */
  readText(uri: string, options: { limit: number; signal?: AbortSignal | undefined }): Promise<string>;
  /** Saves an input file at a path. */
  download(uri: string, path: string, options: { signal?: AbortSignal | undefined }): Promise<void>;
  /** Saves an input directory below a path; left out when the caller cannot list. */
  downloadDirectory?(uri: string, path: string, options: { signal?: AbortSignal | undefined }): Promise<void>;
}

/** Reads a document through the fetcher, or from the file system when local files are allowed. */
export async function readDocumentText(
  uri: string,
  options: { fetcher?: Fetcher | undefined; limit: number; localFiles: boolean; signal?: AbortSignal | undefined },
): Promise<string> {
  refuseKeep(uri);
  const path = filePath(uri);
  try {
    if (path === undefined) {
      if (options.fetcher === undefined) {
        throw new CwlError("reference", `${uri} cannot be fetched: no network access was given to the engine`);
      }
      return await options.fetcher.readText(uri, { limit: options.limit, signal: options.signal });
    }
    if (!options.localFiles) {
      throw new CwlError("reference", `${uri} is a local file, and documents here may not refer to local files`);
    }
    const info = await stat(path);
    if (!info.isFile()) {
      throw new CwlError("reference", `cannot read ${path}: it is not a file`);
    }
    const { size } = info;
    if (size > options.limit) {
      throw new CwlError("limit", `${path} has ${size} bytes; at most ${options.limit} are accepted for a document`);
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof CwlError) {
      throw error;
    }
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    const why = missing ? "there is no such file" : messageOf(error);
    throw new CwlError("reference", `cannot read ${path ?? uri}: ${why}`, { cause: error });
  }
}
