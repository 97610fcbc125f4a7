import type { StacAsset, StacItem } from "@swath/stac";

import { ProductError } from "../errors.ts";
import { centroidOf, toFootprint } from "../footprint.ts";
import { toUtc } from "../instants.ts";
import { createItem } from "../item.ts";
import { readCorners, readGrid } from "./landsat-footprint.ts";
import { LANDSAT_FILES, bandsOf } from "./landsat-bands.ts";
import { type Mtl, parseMtl } from "./mtl.ts";
import type { ProductFiles } from "../product-files.ts";

/** Groups that have the scales of Level-2 and Level-1 products; a Level-2 file has both. */
const SCALES = [
  "LEVEL2_SURFACE_REFLECTANCE_PARAMETERS",
  "LEVEL2_SURFACE_TEMPERATURE_PARAMETERS",
  "LEVEL1_RADIOMETRIC_RESCALING",
  "RADIOMETRIC_RESCALING",
];
const USGS = {
  name: "USGS",
  roles: ["producer", "processor", "licensor"],
  url: "https://www.usgs.gov/landsat-missions",
};

/** The item of a Landsat product of Collection 1 or 2 with its MTL. @throws {ProductError} */
export async function convertLandsat(files: ProductFiles, mtlPath: string): Promise<StacItem> {
  const mtl = await parseMtl(await files.read(mtlPath), mtlPath);
  const required = (field: string): string => {
    const value = mtl.get(field);
    if (value === undefined) {
      throw new ProductError(`${mtlPath} has no ${field}; the product is not whole.`);
    }
    return value;
  };
  const id = mtl.get("LANDSAT_PRODUCT_ID") ?? required("LANDSAT_SCENE_ID");
  const spacecraft = required("SPACECRAFT_ID");
  const sensor = required("SENSOR_ID");
  const level = mtl.get("PROCESSING_LEVEL") ?? mtl.get("DATA_TYPE") ?? "";
  const grid = readGrid(mtl, mtlPath);
  const ring = await readCorners(files, mtl, grid);
  const time = mtl.get("SCENE_CENTER_TIME")?.replaceAll('"', "") ?? "00:00:00Z";
  const datetime = toUtc(`${required("DATE_ACQUIRED")}T${time}`);
  const isLevel2 = level.startsWith("L2");
  const cloud = (field: string): number | undefined => {
    const value = mtl.number(field);
    return value === undefined || value < 0 ? undefined : value;
  };
  const azimuth = mtl.number("SUN_AZIMUTH");
  return createItem({
    id,
    collection: `landsat-c${Number(mtl.get("COLLECTION_NUMBER") ?? 1)}-${isLevel2 ? "l2" : "l1"}`,
    footprint: toFootprint(ring),
    properties: {
      datetime,
      created: toUtc(mtl.get("DATE_PRODUCT_GENERATED") ?? mtl.get("FILE_DATE") ?? ""),
      platform: spacecraft.toLowerCase().replace("_", "-"),
      constellation: "landsat",
      instruments: sensor
        .toLowerCase()
        .split("_")
        .filter((name) => name !== ""),
      gsd: grid.size,
      providers: [USGS],
      "eo:cloud_cover": cloud("CLOUD_COVER"),
      "view:off_nadir": mtl.get("NADIR_OFFNADIR") === "OFFNADIR" ? Math.abs(mtl.number("ROLL_ANGLE") ?? 0) : 0,
      // The file counts from -180; the extension from 0.
      "view:sun_azimuth": azimuth === undefined ? undefined : (azimuth + 360) % 360,
      "view:sun_elevation": mtl.number("SUN_ELEVATION"),
      "proj:code": grid.crs,
      "proj:shape": [grid.lines, grid.samples],
      "proj:transform": [grid.size, 0, grid.left, 0, -grid.size, grid.top],
      "proj:centroid": centroidOf(ring),
      "processing:level": level,
      // -1 where nobody counted, which this one may say.
      "landsat:cloud_cover_land": mtl.number("CLOUD_COVER_LAND"),
      "landsat:wrs_type": mtl.get("WRS_TYPE") ?? (/[123]$/.test(spacecraft) ? "1" : "2"),
      "landsat:wrs_path": required("WRS_PATH").padStart(3, "0"),
      "landsat:wrs_row": required("WRS_ROW").padStart(3, "0"),
      "landsat:collection_category": mtl.get("COLLECTION_CATEGORY"),
      "landsat:collection_number": mtl.get("COLLECTION_NUMBER")?.padStart(2, "0"),
      "landsat:correction": level,
      "landsat:scene_id": mtl.get("LANDSAT_SCENE_ID"),
    },
    assets: describeFiles(mtl, files, bandsOf(spacecraft, sensor)),
  });
}

const COG = "image/tiff; application=geotiff; profile=cloud-optimized";

function describeFiles(mtl: Mtl, files: ProductFiles, bands: ReturnType<typeof bandsOf>): Record<string, StacAsset> {
  const assets: Record<string, StacAsset> = {};
  for (const [field, name] of mtl.fields("FILE_NAME_BAND_")) {
    const number = field.slice("FILE_NAME_BAND_".length);
    const band = bands[number];
    if (band === undefined) {
      continue;
    }
    const { scale, offset, unit } = readScale(mtl, number);
    assets[band.key] = {
      href: files.href(name),
      type: COG,
      title: name.replace(/^.*?_((?:SR_|ST_)?B\w+)\.TIF$/i, "$1"),
      roles: ["data", ...(unit === undefined ? ["reflectance"] : unit === "K" ? ["temperature"] : [])],
      bands: [
        {
          name: /_((?:SR_|ST_)?B\w+)\.TIF$/i.exec(name)?.[1] ?? `B${number}`,
          ...(band.commonName !== undefined && { "eo:common_name": band.commonName.replace(/_(?:low|high)$/, "") }),
          ...(band.wavelength !== undefined && { "eo:center_wavelength": band.wavelength }),
          ...dataType(mtl.get(`DATA_TYPE_BAND_${number}`)),
          nodata: 0,
          ...(unit !== undefined && { unit }),
          ...(scale !== undefined && { "raster:scale": scale }),
          ...(offset !== undefined && { "raster:offset": offset }),
        },
      ],
    };
  }
  for (const [field, [key, title, roles, scale]] of Object.entries(LANDSAT_FILES)) {
    const name = mtl.get(field);
    if (name === undefined) {
      continue;
    }
    const isRaster = /\.TIF$/i.test(name);
    assets[key] = {
      href: files.href(name),
      type: isRaster ? COG : /\.xml$/i.test(name) ? "application/xml" : "text/plain",
      title,
      roles,
      ...(isRaster && {
        bands: [
          {
            name: key,
            ...dataType(mtl.get(field.replace("FILE_NAME_", "DATA_TYPE_"))),
            ...(scale !== undefined && { nodata: -9999, "raster:scale": scale }),
          },
        ],
      }),
    };
  }
  return assets;
}

function dataType(text: string | undefined): { readonly data_type?: string } {
  return text === undefined ? {} : { data_type: text.toLowerCase() };
}

/** What numbers of a band mean: reflectance where the file says how, temperature, else radiance. */
function readScale(mtl: Mtl, number: string): { scale?: number; offset?: number; unit?: string } {
  for (const [quantity, unit] of [
    ["REFLECTANCE", undefined],
    ["TEMPERATURE", "K"],
    ["RADIANCE", "W m-2 sr-1 um-1"],
  ] as const) {
    const scale = mtl.number(`${quantity}_MULT_BAND_${number}`, ...SCALES);
    const offset = mtl.number(`${quantity}_ADD_BAND_${number}`, ...SCALES);
    if (scale !== undefined) {
      return { scale, ...(offset !== undefined && { offset }), ...(unit !== undefined && { unit }) };
    }
  }
  return {};
}
