import type { StacAsset, StacItem } from "@swath/stac";

import { ProductError } from "../errors.ts";
import { type Position, toFootprint } from "../footprint.ts";
import { toUtc } from "../instants.ts";
import { createItem } from "../item.ts";
import type { ProductFiles } from "../product-files.ts";
import type { ProductPlace } from "../product-family.ts";
import { type XmlNode, findAll, findNumber, findText, parseXml, requireText } from "../xml.ts";

const LP_DAAC = {
  name: "NASA LP DAAC",
  roles: ["producer", "processor", "licensor"],
  url: "https://lpdaac.usgs.gov",
};
/** Metadata of ECS name a document type elsewhere, which is not read. One with declarations of its own is refused. */
const DOCTYPE = /<!DOCTYPE\s+GranuleMetaDataFile\s+SYSTEM\s+"[^"<>[\]]{0,300}"\s*>/;
const DIRECTIONS: ReadonlyMap<string, string> = new Map([
  ["DE", "descending"],
  ["AS", "ascending"],
]);
/** Where the document type stands, in characters. */
const PROLOGUE = 1000;

/** The item of a granule by its metadata (ScienceGranuleMetadata of ECS). @throws {ProductError} */
export async function convertGranule(files: ProductFiles, { name, describedBy }: ProductPlace): Promise<StacItem> {
  const root = await readMetadata(files, describedBy);
  const shortName = requireText(root, "ShortName", describedBy);
  const version = requireText(root, "VersionID", describedBy);
  const times = readTimes(root, describedBy);
  const platforms = listTexts(root, "PlatformShortName");
  const instruments = listTexts(root, "InstrumentShortName");
  const isAster = shortName.startsWith("AST");
  const extra = readAttributes(root);
  const number = (attribute: string): number | undefined => {
    const text = extra.get(attribute);
    return text === undefined || text === "" || !Number.isFinite(Number(text)) ? undefined : Number(text);
  };
  const doi = extra.get("identifier_product_doi");
  const created = toUtc(findText(root, "ProductionDateTime") ?? "");
  return createItem({
    id: name.replace(/\.(?:hdf|h5)$/i, ""),
    collection: `${shortName}-${version.padStart(3, "0")}`.toLowerCase().replaceAll("_", "-"),
    footprint: toFootprint(readRing(root, describedBy)),
    properties: {
      ...times,
      created,
      platform: toPlatform(platforms, isAster),
      instruments:
        instruments.length > 0 ? instruments.map((each) => each.toLowerCase()) : isAster ? ["aster"] : undefined,
      providers: [{ ...LP_DAAC, ...(doi !== undefined && { url: `https://doi.org/${doi}` }) }],
      "eo:cloud_cover": number("SceneCloudCoverage") ?? readCloudCover(root),
      "view:sun_azimuth": number("Solar_Azimuth_Angle"),
      "view:sun_elevation": number("Solar_Elevation_Angle"),
      "sat:orbit_state": DIRECTIONS.get(extra.get("FlyingDirection") ?? ""),
      "modis:horizontal-tile": number("HORIZONTALTILENUMBER"),
      "modis:vertical-tile": number("VERTICALTILENUMBER"),
      "modis:tile-id": extra.get("TileID"),
      "product:type": shortName,
      "processing:version": findText(root, "PGEVersion"),
      "sci:doi": doi,
    },
    assets: describeFiles(files, root, { name, describedBy }),
  });
}

async function readMetadata(files: ProductFiles, path: string): Promise<XmlNode> {
  const text = (await files.read(path)).toString("utf8");
  const plain = text.slice(0, PROLOGUE).replace(DOCTYPE, "") + text.slice(PROLOGUE);
  return parseXml(Buffer.from(plain), path);
}

const listTexts = (root: XmlNode, name: string): readonly string[] => [
  ...new Set(
    findAll(root, name).flatMap((node) => (typeof node === "string" && node.trim() !== "" ? [node.trim()] : [])),
  ),
];

/** Terra and Aqua together in combined products, for which STAC has one text. */
function toPlatform(names: readonly string[], isAster: boolean): string | undefined {
  return names.length > 0 ? names.map((name) => name.toLowerCase()).join(",") : isAster ? "terra" : undefined;
}

/** An instant, or an interval with its middle. */
function readTimes(root: XmlNode, path: string): Readonly<Record<string, string>> {
  const at = (date: string, time: string): string | undefined => {
    const [day, hour] = [findText(root, date), findText(root, time)];
    return day === undefined ? undefined : toUtc(`${day}T${hour ?? "00:00:00"}`);
  };
  const instant = at("CalendarDate", "TimeofDay");
  if (instant !== undefined) {
    return { datetime: instant };
  }
  const [start, end] = [at("RangeBeginningDate", "RangeBeginningTime"), at("RangeEndingDate", "RangeEndingTime")];
  if (start === undefined || end === undefined) {
    throw new ProductError(`${path} has neither CalendarDate nor RangeBeginningDate and RangeEndingDate.`);
  }
  return { datetime: start, start_datetime: start, end_datetime: end };
}

/** The outline, or the box that some products have instead. */
function readRing(root: XmlNode, path: string): readonly Position[] {
  const [boundary] = findAll(root, "Boundary");
  const points = findAll(boundary, "Point").map((point): Position => [
    findNumber(point, "PointLongitude") ?? Number.NaN,
    findNumber(point, "PointLatitude") ?? Number.NaN,
  ]);
  if (points.length > 0) {
    return points;
  }
  const [west, south, east, north] = ["West", "South", "East", "North"].map((side) =>
    findNumber(root, `${side}BoundingCoordinate`),
  );
  if (west === undefined || south === undefined || east === undefined || north === undefined) {
    throw new ProductError(`${path} has neither a Boundary nor bounding coordinates; the product is not whole.`);
  }
  const end = west > east ? east + 360 : east;
  return [
    [west, south],
    [end, south],
    [end, north],
    [west, north],
  ];
}

/** Attributes of the product (PSA) by name. */
function readAttributes(root: XmlNode): ReadonlyMap<string, string> {
  return new Map(
    findAll(root, "PSA").flatMap((attribute) => {
      const [name, value] = [findText(attribute, "PSAName"), findText(attribute, "PSAValue")];
      return name === undefined || value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Where each parameter says how much of it is cloud, and all say the same. */
function readCloudCover(root: XmlNode): number | undefined {
  const values = new Set(findAll(root, "QAPercentCloudCover").map(Number));
  const [only] = values;
  return values.size === 1 && only !== undefined && only >= 0 && only <= 100 ? only : undefined;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ["hdf", "application/x-hdf"],
  ["h5", "application/x-hdf5"],
  ["tif", "image/tiff; application=geotiff"],
  ["jpg", "image/jpeg"],
]);

/** Pictures of ASTER in full resolution, by the last part of their names. */
const BROWSE: ReadonlyMap<string, readonly [key: string, title: string]> = new Map([
  ["T", ["thermal_browse", "Thermal infrared, full resolution"]],
  ["V", ["visible_browse", "Visible and near infrared, full resolution"]],
  ["QA", ["quality_browse", "Quality of the geometry"]],
]);

function describeFiles(
  files: ProductFiles,
  root: XmlNode,
  { name, describedBy }: Pick<ProductPlace, "name" | "describedBy">,
): Readonly<Record<string, StacAsset>> {
  const assets = new Map<string, StacAsset>();
  for (const file of findAll(root, "DataFileContainer")) {
    const path = findText(file, "DistributedFileName");
    const isThere = path !== undefined && (path === name || files.paths.length === 0 || files.paths.includes(path));
    if (!isThere || /[/\\]/.test(path)) {
      continue;
    }
    const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? "";
    const size = findNumber(file, "FileSize");
    const part = path === name ? undefined : /_([^_.]+)\.\w+$/.exec(path)?.[1];
    const [key, title] = BROWSE.get(part ?? "") ?? [part ?? ending];
    assets.set(key, {
      href: files.href(path),
      ...(TYPES.has(ending) && { type: TYPES.get(ending) as string }),
      ...(title !== undefined && { title }),
      roles: [title === undefined ? "data" : "overview"],
      ...(size !== undefined && { "file:size": size }),
    });
  }
  if (assets.size === 0) {
    const ending = /\.(\w+)$/.exec(name)?.[1]?.toLowerCase() ?? "hdf";
    assets.set(ending, { href: files.href(name), type: TYPES.get(ending) ?? "application/x-hdf", roles: ["data"] });
  }
  return {
    ...Object.fromEntries(assets),
    metadata: { href: files.href(describedBy), type: "application/xml", title: "Metadata", roles: ["metadata"] },
  };
}
