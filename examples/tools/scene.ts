import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

import { type FoundItem, type StacItem, resolveHref, walkItems } from "@swath/stac";

import { ToolError } from "./errors.ts";

/** An item with the files beside it. */
export interface Scene {
  readonly item: StacItem;
  /** `file:` address of the item's document. */
  readonly href: string;
}

/** The items of a directory with `catalog.json`, as a platform stages it in. */
export async function readScenes(directory: string): Promise<readonly Scene[]> {
  const read = async (href: string) => ({ href, value: JSON.parse(await readFile(new URL(href), "utf8")) as unknown });
  const scenes: FoundItem[] = [];
  for await (const found of walkItems(await read(pathToFileURL(join(resolve(directory), "catalog.json")).href), {
    read,
  })) {
    scenes.push(found);
  }
  return scenes;
}

/** The one item of a directory. */
export async function readScene(directory: string): Promise<Scene> {
  const [scene, ...others] = await readScenes(directory);
  if (scene === undefined || others.length > 0) {
    throw new ToolError(
      `${directory}/catalog.json has ${others.length + (scene === undefined ? 0 : 1)} items; this tool takes a directory with one`,
    );
  }
  return scene;
}

/** @throws {ToolError} naming the assets that there are */
export function assetPath({ item, href }: Scene, key: string): string {
  const asset = Object.hasOwn(item.assets, key) ? item.assets[key] : undefined;
  if (asset === undefined) {
    throw new ToolError(`the item ${item.id} has no asset "${key}"; it has ${Object.keys(item.assets).join(", ")}`);
  }
  const file = resolveHref(asset.href, href);
  if (!file.startsWith("file:")) {
    throw new ToolError(`the asset "${key}" of the item ${item.id} is not here but at ${file}`);
  }
  return fileURLToPath(file);
}

export const folderOf = ({ href }: Scene): string => dirname(fileURLToPath(href));

/** Paths of the files of a scene that lie in its own folder. */
export function localAssets(scene: Scene): readonly string[] {
  const folder = `${folderOf(scene)}/`;
  return Object.values(scene.item.assets).flatMap(({ href }) => {
    const file = resolveHref(href, scene.href);
    const path = file.startsWith("file:") ? fileURLToPath(file) : "";
    return path.startsWith(folder) ? [path] : [];
  });
}
