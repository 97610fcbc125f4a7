import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** Bytes that came are not those of the digest that they were stored by. */
export class DamagedBlobError extends Error {
  override readonly name = "DamagedBlobError";
}

/**
 * Writes a blob to a path where nothing is, and checks it. Nothing is left there when it fails.
 * @throws {DamagedBlobError}
 */
export async function saveBlob(
  body: Readable,
  path: string,
  { sha256, size }: { readonly sha256: string; readonly size: number },
  signal?: AbortSignal,
): Promise<void> {
  const hash = createHash("sha256");
  let seen = 0;
  body.on("data", (chunk: Buffer) => {
    hash.update(chunk);
    seen += chunk.length;
  });
  try {
    await pipeline(body, createWriteStream(path, { flags: "wx", mode: 0o600 }), { ...(signal && { signal }) });
    if (seen !== size || hash.digest("hex") !== sha256) {
      throw new DamagedBlobError(`the bytes of the blob ${sha256} are not those that were stored`);
    }
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}
