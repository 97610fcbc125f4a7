import { cp } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { ToolError } from "./errors.ts";
import { folderOf, localAssets, readScenes } from "./scene.ts";
import { writeCatalog } from "./write-result.ts";

/** `collect --id NAME --scene DIR …`: results of a scattered step as one catalogue, a folder for each. */
export async function collect(
  options: Readonly<Record<string, string>>,
  directories: readonly string[],
): Promise<string> {
  const items: string[] = [];
  const taken = new Set<string>();
  for (const scene of (await Promise.all(directories.map(readScenes))).flat()) {
    const { id } = scene.item;
    if (taken.has(id) || /[/\\]|^\./.test(id)) {
      throw new ToolError(
        `the result "${id}" ${taken.has(id) ? "comes twice" : "cannot be the name of a folder"}; name each scene once`,
      );
    }
    taken.add(id);
    const folder = folderOf(scene);
    // Other scenes may have their files in the same folder.
    for (const path of [fileURLToPath(scene.href), ...localAssets(scene)]) {
      await cp(path, join(id, relative(folder, path)), { recursive: true });
    }
    items.push(`${id}/${basename(scene.href)}`);
  }
  await writeCatalog(".", options["id"] ?? "results", items);
  return `${items.length} results`;
}
