import { createHash } from "node:crypto";
import { createReadStream, readFileSync, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";

/** `sha1$…` of a file, as CWL writes checksums. Large files are streamed. */
export async function checksumOf(path: string): Promise<string> {
  const hash = createHash("sha1");
  if (statSync(path).size <= 65_536) {
    hash.update(readFileSync(path));
  } else {
    await pipeline(createReadStream(path), hash);
  }
  return `sha1$${hash.digest("hex")}`;
}
