import type { StacItem } from "@swath/stac";

import { ProductError } from "../errors.ts";
import { type Position, centroidOf, toFootprint } from "../footprint.ts";
import { toUtc } from "../instants.ts";
import { COPERNICUS_LICENCE, ESA, createItem } from "../item.ts";
import type { ProductFiles } from "../product-files.ts";
import { describeImages, describeMetadata, hasTiffImages, readQuality } from "./sentinel2-assets.ts";
import { type XmlNode, findAll, findNumber, findText, parseXml, requireText } from "../xml.ts";

/** The item of a Sentinel-2 product (SAFE, Level-1C or 2A, one tile). @param metadata path of the file that is looked for where the place cannot be listed @throws {ProductError} */
export async function convertSentinel2(files: ProductFiles, metadata: string): Promise<StacItem> {
  const productPath = findProductPath(files, metadata);
  const product = await parseXml(await files.read(productPath), productPath);
  const image = findText(product, "IMAGE_FILE") ?? findText(product, "IMAGE_ID");
  const granule = /^GRANULE\/([^/]+)\//.exec(image ?? "")?.[1];
  if (granule === undefined) {
    throw new ProductError(`${productPath} names no image of a granule; products before 2016 are not read.`);
  }
  const tilePath = `GRANULE/${granule}/MTD_TL.xml`;
  const tile = await parseXml(await files.read(tilePath), tilePath);
  const uri = requireText(product, "PRODUCT_URI", productPath);
  const ring = readFootprint(requireText(product, "EXT_POS_LIST", productPath));
  const tileId = requireText(tile, "TILE_ID", tilePath);
  const square = /_T(\d{2})([A-Z])([A-Z]{2})_/.exec(tileId) ?? /_T(\d{2})([A-Z])([A-Z]{2})_/.exec(uri);
  const [, zone = "", band = "", grid = ""] = square ?? [];
  const start = requireText(product, "PRODUCT_START_TIME", productPath);
  const level = requireText(product, "PROCESSING_LEVEL", productPath);
  const properties = {
    datetime: toUtc(findText(product, "DATATAKE_SENSING_START") ?? start) ?? toUtc(start),
    ...(toUtc(start) !== toUtc(findText(product, "PRODUCT_STOP_TIME") ?? start) && {
      start_datetime: toUtc(start),
      end_datetime: toUtc(findText(product, "PRODUCT_STOP_TIME") ?? start),
    }),
    platform: (findText(product, "SPACECRAFT_NAME") ?? "sentinel-2").toLowerCase(),
    constellation: "sentinel-2",
    instruments: ["msi"],
    gsd: 10,
    providers: [ESA],
    "processing:level": level.replace("Level-", "L"),
    ...readQuality(product, tile),
    ...readAngles(tile),
    "grid:code": zone === "" ? undefined : `MGRS-${zone}${band}${grid}`,
    "mgrs:utm_zone": zone === "" ? undefined : Number(zone),
    "mgrs:latitude_band": zone === "" ? undefined : band,
    "mgrs:grid_square": zone === "" ? undefined : grid,
    "proj:code": requireText(tile, "HORIZONTAL_CS_CODE", tilePath).toUpperCase(),
    "proj:centroid": centroidOf(ring),
    "sat:orbit_state": findText(product, "SENSING_ORBIT_DIRECTION")?.toLowerCase(),
    "sat:relative_orbit": findNumber(product, "SENSING_ORBIT_NUMBER"),
    "sat:absolute_orbit": Number(/_A(\d{6})_/.exec(tileId)?.[1] ?? "") || undefined,
    "s2:product_uri": uri,
    "s2:product_type": findText(product, "PRODUCT_TYPE"),
    "s2:processing_baseline": findText(product, "PROCESSING_BASELINE"),
    "s2:generation_time": findText(product, "GENERATION_TIME"),
    "s2:datatake_id": attributeOf(product, "Datatake", "@datatakeIdentifier"),
    "s2:datatake_type": findText(product, "DATATAKE_TYPE"),
    "s2:datastrip_id": findText(tile, "DATASTRIP_ID"),
    "s2:tile_id": tileId,
    "s2:reflectance_conversion_factor": findNumber(product, "U"),
  };
  return createItem({
    id: uri.replace(/\.SAFE$/, ""),
    collection: level.includes("2A") ? "sentinel-2-l2a" : "sentinel-2-l1c",
    footprint: toFootprint(ring),
    properties,
    links: [COPERNICUS_LICENCE],
    assets: {
      ...describeImages(product, tile, files),
      ...describeMetadata(files, {
        product: productPath,
        tile: tilePath,
        granule,
        image: /([^/]+?)_[A-Z0-9]{3}(?:_\d\dm)?$/.exec(image ?? "")?.[1] ?? "",
        isTiff: hasTiffImages(product),
        datastrip: toDatastripPath(findText(tile, "DATASTRIP_ID")),
      }),
    },
  });
}

function findProductPath({ name, paths }: ProductFiles, metadata: string): string {
  const listed = paths.find((path) => /^MTD_MSIL\w+\.xml$/.test(path));
  const path = listed ?? (metadata.startsWith("MTD_") ? metadata : undefined);
  if (path === undefined) {
    throw new ProductError(`${name} has no MTD_MSIL1C.xml or MTD_MSIL2A.xml; the product is not whole.`);
  }
  return path;
}

/** `S2A_OPER_MSI_L2A_DS_2APS_20230626T022157_S20230625T234624_N05.09` is in the folder `DS_2APS_20230626T022157_S20230625T234624`. */
function toDatastripPath(id: string | undefined): string | undefined {
  const folder = /_(DS_\w+_S\d{8}T\d{6})/.exec(id ?? "")?.[1];
  return folder && `DATASTRIP/${folder}/MTD_DS.xml`;
}

/** Pairs of latitude and longitude, some with a height. */
function readFootprint(text: string): readonly Position[] {
  const numbers = text.trim().split(/\s+/).map(Number);
  const size = numbers.length % 2 === 0 ? 2 : 3;
  const ring: Position[] = [];
  for (let at = 0; at + 1 < numbers.length; at += size) {
    ring.push([numbers[at + 1] ?? Number.NaN, numbers[at] ?? Number.NaN]);
  }
  return ring;
}

/** Where the sun and the satellite stood: the means that the tile's metadata have. */
function readAngles(tile: XmlNode): Readonly<Record<string, number | undefined>> {
  const sun = findAll(tile, "Mean_Sun_Angle")[0];
  const views = findAll(tile, "Mean_Viewing_Incidence_Angle");
  const mean = (name: string): number | undefined => {
    const values = views.flatMap((view) => findNumber(view, name) ?? []);
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
  };
  const zenith = findNumber(sun, "ZENITH_ANGLE");
  return {
    "view:sun_azimuth": findNumber(sun, "AZIMUTH_ANGLE"),
    "view:sun_elevation": zenith === undefined ? undefined : 90 - zenith,
    "view:azimuth": mean("AZIMUTH_ANGLE"),
    "view:incidence_angle": mean("ZENITH_ANGLE"),
  };
}

function attributeOf(node: XmlNode, name: string, attribute: string): string | undefined {
  const [first] = findAll(node, name);
  const value = typeof first === "object" ? first[attribute] : undefined;
  return typeof value === "string" ? value : undefined;
}
