import { randomBytes } from "node:crypto";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Writes a file whole or not at all, readable by its owner alone, on disk when it resolves. */
export const writePrivate = (file: string, text: string): Promise<void> =>
  writeWhole(file, text, { file: 0o600, folder: 0o700 });

/** The same for what others may read who may enter the folder above. */
export const writeReadable = (file: string, text: string): Promise<void> =>
  writeWhole(file, text, { file: 0o644, folder: 0o755 });

async function writeWhole(file: string, text: string, modes: { file: number; folder: number }): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: modes.folder });
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const handle = await open(temporary, "wx", modes.file);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** A file's text, or `undefined` when there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") {
      return undefined;
    }
    throw error;
  }
}
