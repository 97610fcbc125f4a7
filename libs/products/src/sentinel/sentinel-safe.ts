import { ProductError } from "../errors.ts";
import type { Position } from "../footprint.ts";
import { toUtc } from "../instants.ts";
import type { ProductFiles } from "../product-files.ts";
import { type XmlNode, findAll, findText, parseXml, textOf } from "../xml.ts";

/** What the manifests of Sentinel products (SAFE) have in common. */
export interface SafeManifest {
  readonly root: XmlNode;
  readonly path: string;
  readonly start: string;
  readonly stop: string;
  readonly platform: string;
  readonly orbitState?: string;
  readonly absoluteOrbit?: number;
  readonly relativeOrbit?: number;
  readonly ring: readonly Position[];
  /** Files by their path, with their kind and media type. */
  readonly objects: readonly { readonly path: string; readonly kind: string; readonly type: string }[];
}

/** @throws {ProductError} naming what is missing */
export async function readManifest(files: ProductFiles, path: string): Promise<SafeManifest> {
  const root = await parseXml(await files.read(path), path);
  const start = toUtc(findText(root, "startTime") ?? "");
  const stop = toUtc(findText(root, "stopTime") ?? findText(root, "startTime") ?? "");
  if (start === undefined || stop === undefined) {
    throw new ProductError(`${path} has no startTime; the product is not whole.`);
  }
  const [platform] = findAll(root, "platform").filter((node) => typeof node === "object");
  const family = findText(platform, "familyName");
  if (platform === undefined || family === undefined) {
    throw new ProductError(`${path} has no platform; the product is not whole.`);
  }
  const number = (name: string): number | undefined => {
    // Products of several orbits may give the first of them as 0.
    return findAll(root, name)
      .map((node) => Number(textOf(node)))
      .find((value) => Number.isInteger(value) && value > 0);
  };
  const orbitState = (findText(root, "pass") ?? groundTrack(root))?.toLowerCase();
  const [absoluteOrbit, relativeOrbit] = [number("orbitNumber"), number("relativeOrbitNumber")];
  return {
    root,
    path,
    start,
    stop,
    platform: `${family.toLowerCase()}${(findText(platform, "number") ?? "").toLowerCase()}`,
    ...(orbitState !== undefined && { orbitState }),
    ...(absoluteOrbit !== undefined && { absoluteOrbit }),
    ...(relativeOrbit !== undefined && { relativeOrbit }),
    ring: readRing(root, path),
    objects: readObjects(root),
  };
}

/** Sentinel-3 says the direction in an attribute. */
function groundTrack(root: XmlNode): string | undefined {
  const [first] = findAll(root, "orbitNumber");
  const value = typeof first === "object" ? first["@groundTrackDirection"] : undefined;
  return typeof value === "string" ? value : undefined;
}

/** `lat,lon lat,lon …` or `lat lon lat lon …`. */
function readRing(root: XmlNode, path: string): readonly Position[] {
  const [footprint] = findAll(root, "footPrint");
  const text = findText(footprint, "coordinates") ?? findText(footprint, "posList");
  if (text === undefined) {
    throw new ProductError(`${path} has no footPrint; the product is not whole.`);
  }
  const numbers = text
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const ring: Position[] = [];
  for (let at = 0; at + 1 < numbers.length; at += 2) {
    ring.push([numbers[at + 1] ?? Number.NaN, numbers[at] ?? Number.NaN]);
  }
  return ring;
}

function readObjects(root: XmlNode): SafeManifest["objects"] {
  return findAll(root, "dataObject").flatMap((node) => {
    const [location] = findAll(node, "fileLocation");
    const [stream] = findAll(node, "byteStream");
    const href = typeof location === "object" ? location["@href"] : undefined;
    if (typeof node === "string" || typeof href !== "string") {
      return [];
    }
    const type = typeof stream === "object" ? stream["@mimeType"] : undefined;
    return [
      {
        path: href.replace(/^\.\//, ""),
        kind: [node["@repID"], node["@ID"]].find((name) => typeof name === "string") ?? "",
        type: typeof type === "string" ? type : "application/octet-stream",
      },
    ];
  });
}

/** The middle of an interval. */
export function middleOf(start: string, stop: string): string {
  return new Date((Date.parse(start) + Date.parse(stop)) / 2).toISOString();
}
