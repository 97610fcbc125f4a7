import { type Box, bboxOf } from "./areas.ts";

/** A file of a job's results, as the service lists it (`GET …/jobs/{id}/files`). */
export interface ResultFile {
  readonly path: string;
  readonly type: string;
  readonly size: number;
  readonly updated?: string;
}

export type AssetKind = "raster" | "picture" | "vector" | "metadata" | "other";

export interface ResultAsset {
  readonly key: string;
  readonly title: string;
  readonly kind: AssetKind;
  readonly type: string;
  /** Among the job's files; `undefined` for what lies elsewhere. */
  readonly path: string | undefined;
  readonly href: string;
  readonly size: number | undefined;
}

/** A STAC item of the results: what it shows, where and when, and its files. */
export interface ResultItem {
  readonly id: string;
  readonly title: string;
  readonly time: string | undefined;
  readonly geometry: unknown;
  readonly box: Box | undefined;
  /** Properties that are worth reading: no nested ones, none that are shown elsewhere. */
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly assets: readonly ResultAsset[];
}

/** Documents among the files that may be STAC items. */
export const findItemPaths = (files: readonly ResultFile[]): readonly string[] =>
  files
    .map(({ path }) => path)
    .filter((path) => /\.(geo)?json$/i.test(path) && !/(^|\/)(catalog|collection)\.json$/i.test(path));

/** A document as an item; `undefined` when it is something else. */
export function readItem(document: unknown, path: string, files: readonly ResultFile[]): ResultItem | undefined {
  if (typeof document !== "object" || document === null) {
    return undefined;
  }
  const {
    type,
    stac_version: version,
    id,
    geometry,
    bbox,
    properties,
    assets,
  } = document as Readonly<Record<string, unknown>>;
  if (type !== "Feature" || typeof version !== "string" || typeof id !== "string" || !isObject(assets)) {
    return undefined;
  }
  const facts = isObject(properties) ? properties : {};
  const time = facts["datetime"] ?? facts["start_datetime"];
  const box = Array.isArray(bbox) ? toFlatBox(bbox as readonly unknown[]) : undefined;
  return {
    id,
    title: typeof facts["title"] === "string" ? facts["title"] : id,
    time: typeof time === "string" ? time : undefined,
    geometry: geometry ?? undefined,
    box: box ?? bboxOf(geometry),
    properties: toFacts(facts),
    assets: Object.entries(assets).flatMap(([key, asset]) => (isObject(asset) ? toAsset(key, asset, path, files) : [])),
  };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A box of four numbers, or of six with heights. */
function toFlatBox(bbox: readonly unknown[]): Box | undefined {
  const numbers = bbox.map(Number);
  const flat = numbers.length === 6 ? [0, 1, 3, 4].map((index) => numbers[index] ?? Number.NaN) : numbers;
  return flat.length === 4 && flat.every((value) => Number.isFinite(value)) ? (flat as unknown as Box) : undefined;
}

const SHOWN_ELSEWHERE = new Set(["title", "datetime", "start_datetime", "end_datetime", "created", "updated"]);

function toFacts(properties: Readonly<Record<string, unknown>>): ResultItem["properties"] {
  return Object.entries(properties).flatMap(([name, value]) =>
    SHOWN_ELSEWHERE.has(name) || !["string", "number", "boolean"].includes(typeof value)
      ? []
      : [[name, String(value)] as const],
  );
}

function toAsset(
  key: string,
  asset: Readonly<Record<string, unknown>>,
  itemPath: string,
  files: readonly ResultFile[],
): readonly ResultAsset[] {
  const { href, title, type, roles } = asset;
  if (typeof href !== "string") {
    return [];
  }
  const path = findPath(href, itemPath, files);
  const file = files.find((candidate) => candidate.path === path);
  const mediaType = typeof type === "string" ? type : (file?.type ?? "");
  return [
    {
      key,
      title: typeof title === "string" && title !== "" ? title : key,
      kind: kindOf(mediaType, Array.isArray(roles) ? (roles as unknown[]).map(String) : []),
      type: mediaType,
      path,
      href,
      size: file?.size,
    },
  ];
}

/**
 * Where an asset lies among the job's files. Its address is relative to the item, or `s3://bucket/processing-results/<job>/…`,
 * whose end is the path of the file.
 */
function findPath(href: string, itemPath: string, files: readonly ResultFile[]): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) {
    const paths = files.map(({ path }) => path).filter((path) => href.endsWith(`/${path}`));
    return paths.toSorted((a, b) => b.length - a.length)[0];
  }
  const base = new URL(itemPath, "http://files.invalid/");
  const path = decodeURIComponent(new URL(href, base).pathname.slice(1));
  return files.some((file) => file.path === path) ? path : undefined;
}

function kindOf(type: string, roles: readonly string[]): AssetKind {
  if (type.startsWith("image/tiff")) {
    return "raster";
  }
  if (/^image\/(png|jpe?g|webp|gif|svg)/.test(type)) {
    return "picture";
  }
  if (/geo\+json|geopackage|parquet|flatgeobuf/.test(type) && !roles.includes("metadata")) {
    return "vector";
  }
  return roles.includes("metadata") || /json|xml|text\//.test(type) ? "metadata" : "other";
}

/** The box around all items; `undefined` when none says where it is. */
export function boxOfItems(items: readonly { readonly box?: Box | undefined }[]): Box | undefined {
  const boxes = items.flatMap(({ box: bbox }) => (bbox === undefined ? [] : [bbox]));
  return boxes.length === 0
    ? undefined
    : [
        Math.min(...boxes.map(([west]) => west)),
        Math.min(...boxes.map(([, south]) => south)),
        Math.max(...boxes.map(([, , east]) => east)),
        Math.max(...boxes.map(([, , , north]) => north)),
      ];
}
