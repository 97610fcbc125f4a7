import { basename } from "node:path";

import { type FoundItem, type StacItem, type StacLink, parseMultihash, relativeHref, resolveHref } from "@swath/stac";
import mime from "mime-types";

import { displayUrl } from "../display-url.ts";
import { StagingError } from "../errors.ts";
import { nameInUrl, safeName, uniqueName } from "./file-names.ts";

/** A file to fetch; `path` is relative to the target, with `/`. */
export interface PlannedFile {
  readonly href: string;
  readonly path: string;
  /** Document that names it. */
  readonly from?: string;
  readonly size?: number;
  readonly checksum?: { readonly algorithm: "sha1" | "sha256" | "sha512" | "md5"; readonly hex: string };
}

/** A JSON document to write once the files are there. */
export interface PlannedDocument {
  readonly path: string;
  readonly value: object;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  /** `catalog.json` is the last. */
  readonly documents: readonly PlannedDocument[];
}

const STRUCTURE = new Set(["self", "root", "parent", "item", "child", "items", "next", "prev"]);

interface ItemsOptions {
  /** Keys of the assets that are wanted; all when undefined. */
  readonly assets: readonly string[] | undefined;
  readonly origin: string;
  readonly toAssetAddress: (found: FoundItem, key: string, href: string) => string;
}

/**
 * Lays out items as a self-contained catalogue: `catalog.json`, and for each item a directory with `<id>.json` and its files.
 */
export function planItems(items: readonly FoundItem[], { assets, origin, toAssetAddress }: ItemsOptions): Plan {
  const files: PlannedFile[] = [];
  const documents: PlannedDocument[] = [];
  const folders = new Set(["catalog.json"]);
  for (const found of items) {
    const folder = uniqueName(safeName(found.item.id, "item"), folders);
    const document = `${folder}/${folder}.json`;
    const taken = new Set([basename(document).toLowerCase()]);
    const local: Record<string, object> = {};
    for (const key of assets ?? Object.keys(found.item.assets)) {
      const asset = Object.hasOwn(found.item.assets, key) ? found.item.assets[key] : undefined;
      if (asset === undefined) {
        throw new StagingError(
          "source",
          displayUrl(found.href),
          `the item "${found.item.id}" has no asset "${key}"; it has ${Object.keys(found.item.assets).join(", ") || "none"}`,
        );
      }
      const href = resolveHref(asset.href, found.href);
      const file = uniqueName(
        safeName(href.startsWith("data:") ? "" : nameInUrl(href), fallbackName(key, asset.type)),
        taken,
      );
      const checksum = asset["file:checksum"] === undefined ? undefined : parseMultihash(asset["file:checksum"]);
      files.push({
        href: toAssetAddress(found, key, href),
        path: `${folder}/${file}`,
        from: found.document,
        ...(asset["file:size"] !== undefined && { size: asset["file:size"] }),
        ...(checksum !== undefined && { checksum }),
      });
      local[key] = { ...asset, href: relativeHref(document, `${folder}/${file}`) };
    }
    documents.push({ path: document, value: { ...found.item, links: localLinks(found), assets: local } });
  }
  return {
    files,
    documents: [
      ...documents,
      planCatalog(
        documents.map(({ path }) => path),
        origin,
      ),
    ],
  };
}

/** Files without metadata, as one item without a place. */
export function planFiles(files: readonly PlannedFile[], origin: string): Plan {
  const name = safeName(nameInUrl(origin.replace(/\/+$/, "")), "files");
  const document = `${uniqueName(`${name}.json`, new Set(["catalog.json", ...files.map(({ path }) => path.toLowerCase())]))}`;
  const item: StacItem = {
    type: "Feature",
    stac_version: "1.1.0",
    id: name,
    geometry: null,
    properties: { datetime: new Date().toISOString(), title: name },
    links: [{ rel: "root", href: "./catalog.json" }, { rel: "parent", href: "./catalog.json" }, ...sourceLink(origin)],
    assets: Object.fromEntries(
      files.map(({ path }) => {
        const type = mime.lookup(path);
        return [path, { href: relativeHref(document, path), roles: ["data"], ...(type !== false && { type }) }];
      }),
    ),
  };
  return { files, documents: [{ path: document, value: item }, planCatalog([document], origin)] };
}

function planCatalog(items: readonly string[], origin: string): PlannedDocument {
  return {
    path: "catalog.json",
    value: {
      type: "Catalog",
      stac_version: "1.1.0",
      id: "input",
      description: `Copy of ${displayUrl(origin)}`,
      links: [
        { rel: "root", href: "./catalog.json", type: "application/json" },
        ...items.map((path) => ({
          rel: "item",
          href: relativeHref("catalog.json", path),
          type: "application/geo+json",
        })),
      ],
    },
  };
}

function localLinks({ item, href }: FoundItem): readonly StacLink[] {
  const kept = item.links
    .filter(({ rel }) => !STRUCTURE.has(rel))
    .flatMap((link) => {
      // An item by value has no address to start from; its relative links lead nowhere.
      const isUsable = !href.startsWith("data:") || /^[a-z][a-z0-9+.-]*:/i.test(link.href);
      return isUsable ? [{ ...link, href: resolveHref(link.href, href) }] : [];
    });
  return [
    { rel: "root", href: "../catalog.json", type: "application/json" },
    { rel: "parent", href: "../catalog.json", type: "application/json" },
    ...kept,
    ...sourceLink(href),
  ];
}

/** Where it came from, without what may be a signature. */
function sourceLink(href: string): readonly StacLink[] {
  return /^(?:https?|s3):/.test(href) ? [{ rel: "via", href: displayUrl(href) }] : [];
}

function fallbackName(key: string, type: string | undefined): string {
  const extension = type === undefined ? false : mime.extension(type);
  return safeName(extension === false ? key : `${key}.${extension}`, "asset");
}
