import { basename } from "node:path";

import {
  FILE_EXTENSION,
  MEDIA_TYPES,
  type StacAsset,
  type StacCollection,
  type StacItem,
  type StacLink,
  extentOf,
} from "@swath/stac";

import { safeName, uniqueName } from "../in/file-names.ts";
import type { Origin, StagedFile } from "../types.ts";
import { mediaTypeOf } from "./media-type.ts";
import { type DescribedBand, RASTER_EXTENSION, usesRasterExtension, withBands } from "./raster-bands.ts";
import { type Output, findLocal } from "./read-output.ts";

/** A file of the output, where it goes, and whose asset it is. */
export interface OutputFile {
  readonly path: string;
  readonly key: string;
  readonly mediaType: string;
}

/** Assets of an item or a collection: those with a `file` are uploaded, the others stay as they are. */
interface PlannedAsset {
  readonly name: string;
  readonly asset: StacAsset;
  readonly file?: OutputFile;
}

interface PlannedItem {
  readonly item: StacItem;
  readonly key: string;
  readonly assets: readonly PlannedAsset[];
}

/** Where everything goes: `<prefix>/<collection>/<item>/<file>`. */
export interface OutputPlan {
  readonly catalogKey: string;
  readonly collectionKey: string;
  readonly items: readonly PlannedItem[];
  readonly collectionAssets: readonly PlannedAsset[];
  /** The output's own description of itself, when it has exactly one. */
  readonly own: StacCollection | undefined;
}

export async function planOutput(
  output: Output,
  directory: string,
  prefix: string,
  jobId: string,
): Promise<OutputPlan> {
  const folder = `${prefix}/${safeName(jobId, "collection")}`;
  const names = new Set(["collection.json"]);
  const items: PlannedItem[] = [];
  for (const { item, href } of output.items ?? []) {
    const name = uniqueName(safeName(item.id, "item"), names);
    const taken = new Set([`${name}.json`.toLowerCase()]);
    items.push({
      item,
      key: `${folder}/${name}/${name}.json`,
      assets: await planAssets(item.assets, href, directory, `${folder}/${name}`, taken),
    });
  }
  const [single, ...others] = output.collections;
  const ofCollections = await Promise.all(
    output.collections.map(({ collection, href }) =>
      planAssets(collection.assets ?? {}, href, directory, folder, names),
    ),
  );
  const collectionAssets = [
    ...ofCollections.flat(),
    ...output.files.map((path) => planFile(path, directory, `${folder}/${placeOf(path, names)}`)),
  ];
  return {
    catalogKey: `${prefix}/catalog.json`,
    collectionKey: `${folder}/collection.json`,
    items,
    collectionAssets,
    own: others.length === 0 ? single?.collection : undefined,
  };
}

async function planAssets(
  assets: Readonly<Record<string, StacAsset>>,
  base: string,
  directory: string,
  folder: string,
  taken: Set<string>,
): Promise<readonly PlannedAsset[]> {
  const planned: PlannedAsset[] = [];
  for (const [name, asset] of Object.entries(assets)) {
    const path = await findLocal(asset.href, base, directory);
    if (path === undefined) {
      planned.push({ name, asset });
    } else {
      const key = `${folder}/${uniqueName(safeName(basename(path), "asset"), taken)}`;
      planned.push({ name, asset, file: { path, key, mediaType: asset.type ?? mediaTypeOf(path) } });
    }
  }
  return planned;
}

/** The place of a plain file: its path, with another first part where that is an item's or another file's already. */
function placeOf(path: string, taken: Set<string>): string {
  const [first = path, ...rest] = path.split("/");
  // Files of one folder stay together, so its name is taken once.
  const isItems = taken.has(first.toLowerCase());
  return rest.length === 0 ? uniqueName(first, taken) : [isItems ? `files/${first}` : first, ...rest].join("/");
}

/** A plain file is an asset of the collection by its path. */
function planFile(path: string, directory: string, key: string): PlannedAsset {
  return {
    name: path,
    asset: { href: `./${path}`, roles: ["data"] },
    file: { path: `${directory}/${path}`, key, mediaType: mediaTypeOf(path) },
  };
}

/** What is linked inside a catalogue is linked anew; of the other links those stay that lead somewhere from everywhere. */
const STRUCTURE = new Set(["self", "root", "parent", "collection", "item", "child", "items"]);
const isElsewhere = ({ rel, href }: StacLink): boolean =>
  !STRUCTURE.has(rel) && /^(?!file:)[a-z][a-z0-9+.-]*:/i.test(href);

/** Addresses of the three kinds of documents. */
export interface Addresses {
  readonly catalog: string;
  readonly collection: string;
  readonly of: (key: string) => string;
}

/** What came of the files, where everything is, and of what it was made. */
export interface Published {
  readonly sent: ReadonlyMap<string, StagedFile>;
  readonly bands: ReadonlyMap<string, readonly DescribedBand[]>;
  readonly at: Addresses;
  readonly origin?: Origin | undefined;
}

export function toItem(
  { item, key, assets }: PlannedItem,
  collectionId: string,
  { sent, bands, at, origin }: Published,
): StacItem {
  const published = toAssets(assets, item.stac_version, { sent, bands });
  return {
    ...item,
    collection: collectionId,
    properties: { ...toProcessing(origin), ...item.properties },
    stac_extensions: withExtensions(item["stac_extensions"], published, origin),
    links: [
      { rel: "root", href: at.catalog, type: MEDIA_TYPES.json },
      { rel: "parent", href: at.collection, type: MEDIA_TYPES.json },
      { rel: "collection", href: at.collection, type: MEDIA_TYPES.json },
      { rel: "self", href: at.of(key), type: MEDIA_TYPES.item },
      ...item.links.filter(isElsewhere),
      ...derivedFrom(item.links, origin),
    ],
    assets: published,
  };
}

export function toCollection(
  plan: OutputPlan,
  { jobId, title }: { readonly jobId: string; readonly title: string },
  { sent, bands, at, origin }: Published,
): StacCollection {
  const { own, items } = plan;
  const version =
    items.some(({ item }) => item.stac_version.startsWith("1.1")) || items.length === 0 ? "1.1.0" : "1.0.0";
  const assets = toAssets(plan.collectionAssets, version, { sent, bands });
  return {
    description: `Results of the job ${jobId}`,
    title,
    // Who may use results is for their owner to say; 1.0 has another word for that than 1.1.
    license: version === "1.0.0" ? "proprietary" : "other",
    keywords: ["processing results"],
    ...own,
    type: "Collection",
    stac_version: version,
    id: jobId,
    stac_extensions: withExtensions(own?.["stac_extensions"], assets, origin),
    ...(origin && { summaries: { ...toSummaries(origin), ...(own?.["summaries"] as object) } }),
    extent: items.length === 0 && own !== undefined ? own.extent : extentOf(items.map(({ item }) => item)),
    links: [
      { rel: "root", href: at.catalog, type: MEDIA_TYPES.json },
      { rel: "parent", href: at.catalog, type: MEDIA_TYPES.json },
      { rel: "self", href: at.collection, type: MEDIA_TYPES.json },
      ...items.map(({ key, item }) => ({ rel: "item", href: at.of(key), type: MEDIA_TYPES.item, title: item.id })),
      ...(own?.links ?? []).filter(isElsewhere),
      ...derivedFrom(own?.links ?? [], origin),
    ],
    assets,
  };
}

export function toCatalog(jobId: string, title: string, version: string, at: Addresses): object {
  return {
    type: "Catalog",
    stac_version: version,
    id: `results-${jobId}`,
    title,
    description: `Results of the job ${jobId}`,
    links: [
      { rel: "root", href: at.catalog, type: MEDIA_TYPES.json },
      { rel: "self", href: at.catalog, type: MEDIA_TYPES.json },
      { rel: "child", href: at.collection, type: MEDIA_TYPES.json, title },
    ],
  };
}

const PROCESSING_EXTENSION = "https://stac-extensions.github.io/processing/v1.2.0/schema.json";

/** Fields of the processing extension. */
const toProcessing = (origin: Origin | undefined): object =>
  origin === undefined
    ? {}
    : { "processing:software": { [origin.process]: origin.version }, "processing:facility": "Swath" };

const toSummaries = ({ process, version }: Origin): object => ({
  "processing:software": [{ [process]: version }],
  "processing:facility": ["Swath"],
});

/** Links to what the results were made of, where the output does not say so itself. */
function derivedFrom(links: readonly StacLink[], origin: Origin | undefined): readonly StacLink[] {
  return origin === undefined || links.some(({ rel }) => rel === "derived_from")
    ? []
    : origin.inputs.map((href) => ({ rel: "derived_from", href, title: "An input of the job" }));
}

function toAssets(
  assets: readonly PlannedAsset[],
  version: string,
  { sent, bands }: Pick<Published, "sent" | "bands">,
): Readonly<Record<string, StacAsset>> {
  return Object.fromEntries(
    assets.map(({ name, asset, file }) => {
      const staged = file === undefined ? undefined : sent.get(file.key);
      const facts =
        staged === undefined
          ? {}
          : { href: staged.href, type: staged.mediaType, "file:size": staged.bytes, "file:checksum": staged.checksum };
      return [name, { ...withBands(asset, file && bands.get(file.key), version), ...facts }];
    }),
  );
}

const withExtensions = (
  extensions: unknown,
  assets: Readonly<Record<string, StacAsset>>,
  origin: Origin | undefined,
): readonly string[] => {
  const own = withFileExtension(extensions);
  const lacksRaster = usesRasterExtension(assets) && !own.some((entry) => entry.includes("/raster/"));
  return [
    ...new Set([
      ...own,
      ...(lacksRaster ? [RASTER_EXTENSION] : []),
      ...(origin === undefined ? [] : [PROCESSING_EXTENSION]),
    ]),
  ];
};

function withFileExtension(extensions: unknown): readonly string[] {
  const list = Array.isArray(extensions)
    ? extensions.filter((entry): entry is string => typeof entry === "string")
    : [];
  return list.some((entry) => entry.includes("/file/")) ? list : [...list, FILE_EXTENSION];
}
