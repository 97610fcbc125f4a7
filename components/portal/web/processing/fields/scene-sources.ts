import { fileUrl, listFolder } from "../../src/api/files.ts";
import { requestJson } from "@swath/ui";

import type { ProcessingClient } from "../api/processing-client.ts";
import type { Box } from "../model/areas.ts";
import { findItemPaths, readItem } from "../model/result-items.ts";

/** Something that can be given to a process: a STAC document, or any file. */
export interface Scene {
  /** `s3://ws-eric/scenes/item.json`: what the process is told. */
  readonly href: string;
  readonly title: string;
  readonly kind: "item" | "collection" | "catalog" | "file";
  readonly time?: string;
  readonly geometry?: unknown;
  readonly box?: Box;
  /** Keys of its assets, which packages ask for. */
  readonly assets: readonly string[];
}

export interface Folder {
  readonly folders: readonly { readonly key: string; readonly name: string }[];
  readonly scenes: readonly Scene[];
}

/** Documents that are looked into of one folder, and how large one may be. */
const MAX_DOCUMENTS = 200;
const LARGEST = 1024 * 1024;

/** What is in a folder of a workspace: folders, and the STAC documents (or all files) in it. */
export async function readSceneFolder(workspace: string, prefix: string, anyFile: boolean): Promise<Folder> {
  const page = await listFolder(workspace, prefix);
  const hrefOf = (key: string) => `s3://${workspace}/${key}`;
  const documents = page.files.filter(({ name, size }) => /\.(geo)?json$/i.test(name) && size <= LARGEST);
  const scenes = await Promise.all(
    documents.slice(0, MAX_DOCUMENTS).map(async ({ key, name }) => {
      // A file that is no JSON, or was deleted meanwhile, is no scene.
      const document = await requestJson<unknown>(fileUrl(workspace, key)).catch(() => undefined);
      return toScene(document, hrefOf(key), name);
    }),
  );
  const others = anyFile
    ? page.files.map(({ key, name }): Scene => ({ href: hrefOf(key), title: name, kind: "file", assets: [] }))
    : [];
  // What is drawn on the map before what only leads to it.
  const found = scenes
    .filter((scene) => scene !== undefined)
    .toSorted((a, b) => Number(b.kind === "item") - Number(a.kind === "item"));
  return { folders: page.folders, scenes: anyFile ? others : found };
}

/** The items that a job has made. */
export async function readJobScenes(client: ProcessingClient, job: string): Promise<readonly Scene[]> {
  const [files, outputs] = await Promise.all([client.listFiles(job), client.readOutputs(job)]);
  const root = findRoot(outputs);
  if (root === undefined) {
    return [];
  }
  const scenes = await Promise.all(
    findItemPaths(files)
      .slice(0, MAX_DOCUMENTS)
      .map(async (path) => toScene(await client.readDocument(job, path), `${root}/${path}`, path)),
  );
  return scenes.filter((scene) => scene !== undefined);
}

/** `s3://bucket/processing-results/<job>`: where the catalogue of the results lies. */
function findRoot({ StacCatalogUri: uri }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof uri === "string" ? uri.slice(0, uri.lastIndexOf("/")) : undefined;
}

/** A STAC document as a scene; `undefined` for anything else. */
export function toScene(document: unknown, href: string, name: string): Scene | undefined {
  const item = readItem(document, name, []);
  if (item !== undefined) {
    return {
      href,
      title: item.title,
      kind: "item",
      assets: item.assets.map(({ key }) => key),
      ...(item.time !== undefined && { time: item.time }),
      ...(item.geometry !== undefined && { geometry: item.geometry }),
      ...(item.box !== undefined && { box: item.box }),
    };
  }
  const { type, id, title } = (document ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== "Collection" && type !== "Catalog") {
    return undefined;
  }
  return {
    href,
    title: [title, id].find((text) => typeof text === "string") ?? name,
    kind: type === "Collection" ? "collection" : "catalog",
    assets: [],
  };
}
