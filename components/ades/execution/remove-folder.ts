import { removeTree } from "@swath/cwl";
import { rm } from "node:fs/promises";

/** Removes a folder without holding up other work; also one that a tool has made read-only. */
export async function removeFolder(folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EACCES") {
      throw error;
    }
    removeTree(folder);
  }
}
