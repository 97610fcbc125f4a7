import { watch } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname } from "node:path";

import { type IngressConfig, parseConfig } from "./config.ts";

/**
 * Reads the configuration and follows it: whenever the file is replaced, and when `reload` is called. What cannot be
 * used is handed to `onInvalid` and the configuration before stays; changes come one after the other, the last one wins.
 */
export async function followConfig(
  file: string,
  apply: (config: IngressConfig) => Promise<void>,
  onInvalid: (error: Error) => void,
): Promise<{ reload: () => void; close: () => void }> {
  let last = await readFile(file, "utf8");
  await apply(parseConfig(last));
  let running = false;
  let again = false;

  const read = async (force: boolean) => {
    const text = await readFile(file, "utf8");
    // One replacement is several events of the folder.
    if (text !== last || force) {
      last = text;
      await apply(parseConfig(text));
    }
  };
  const reload = (force: boolean) => {
    if (running) {
      again = true;
      return;
    }
    running = true;
    read(force)
      .catch(onInvalid)
      .finally(() => {
        running = false;
        if (again) {
          again = false;
          reload(false);
        }
      });
  };
  // The folder, not the file: a rename gives the name another inode, which a watch on the file would not see.
  const watcher = watch(dirname(file), (_event, name) => {
    if (name === null || name === basename(file)) {
      reload(false);
    }
  });
  watcher.on("error", onInvalid);
  // The file may have been replaced before the watch began.
  reload(false);
  return { reload: () => reload(true), close: () => watcher.close() };
}
