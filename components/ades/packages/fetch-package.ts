import { readFile, rm } from "node:fs/promises";

import { OgcError } from "../errors.ts";
import { stageIn } from "../staging/stage-in.ts";
import { makeOwnFolder } from "./own-folder.ts";
import { MAX_PACKAGE_BYTES } from "./package-reader.ts";
import type { SourceAccess } from "../staging/types.ts";

const MAX_FETCH_MS = 60_000;

/**
 * The text of an application package, or of another document, at an address: http(s), s3 or data. The same guards as for inputs: no private addresses
 * unless allowed, limits of size and time.
 * @throws {OgcError} 400 saying what was wrong with the address
 */
export async function fetchPackage(
  href: string,
  dataFolder: string,
  access: SourceAccess,
  { milliseconds = MAX_FETCH_MS, maxBytes = MAX_PACKAGE_BYTES, what = "application package" } = {},
): Promise<string> {
  const limit = Math.max(1, Math.ceil(milliseconds));
  const target = await makeOwnFolder(dataFolder);
  try {
    const staged = await stageIn({
      source: { href, as: "file", mediaType: "application/cwl" },
      target,
      access: {
        ...access,
        limits: {
          ...access.limits,
          maxBytes,
          maxFileBytes: maxBytes,
          maxSeconds: limit / 1000,
        },
      },
      signal: AbortSignal.timeout(limit),
    });
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(staged.path));
  } catch (error) {
    throw new OgcError(
      400,
      "InvalidParameterValue",
      `The ${what} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    await rm(target, { recursive: true, force: true });
  }
}
