import { type RegistryClient, saveImage } from "@swath/oci";
import { mkdir, readdir, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

import type { AdesSettings } from "../storage.ts";

/** Images that were pulled are kept for the next job, the ones used longest ago going first. */
const MAX_KEPT_BYTES = 20 * 2 ** 30;
/** What is not finished after so long was left behind by a process that died. */
const MAX_UNFINISHED_MS = 6 * 3600 * 1000;

interface Requested {
  readonly repository: string;
  readonly digest: string;
  readonly signal: AbortSignal;
}

/** An image as an archive that a container engine loads, by its digest. Who asks has pulled the manifest: the rights are checked. */
export async function findArchive(
  { DATA_DIR }: AdesSettings,
  client: RegistryClient,
  { repository, digest, signal }: Requested,
): Promise<string> {
  const folder = join(DATA_DIR, "images");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${digest.replace(":", "-")}.tar`);
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
      throw error;
    }
    await saveImage(client, { repository, digest, path, platforms: "own", signal });
    await removeOldest(folder, path);
  }
  return path;
}

async function removeOldest(folder: string, kept: string): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const path = join(folder, name);
      // Another process may have removed it.
      const found = await stat(path).catch(() => undefined);
      return { path, bytes: found?.size ?? 0, time: found?.mtimeMs ?? 0, isWhole: name.startsWith("sha") };
    }),
  );
  let bytes = 0;
  for (const file of files.toSorted((a, b) => b.time - a.time)) {
    bytes += file.bytes;
    const isOver = file.isWhole ? bytes > MAX_KEPT_BYTES : Date.now() - file.time > MAX_UNFINISHED_MS;
    if (isOver && file.path !== kept) {
      await rm(file.path, { recursive: true, force: true });
    }
  }
}
