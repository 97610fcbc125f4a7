import type { StacAsset, StacItem } from "@swath/stac";

import { toFootprint } from "../footprint.ts";
import { toUtc } from "../instants.ts";
import { COPERNICUS_LICENCE, ESA, createItem } from "../item.ts";
import type { ProductFiles } from "../product-files.ts";
import { middleOf, readManifest } from "./sentinel-safe.ts";
import { describeTimeliness } from "./timeliness.ts";
import { findAll, findNumber, findText, parseXml, textOf } from "../xml.ts";

/** Hz of the instrument. */
const CENTER_FREQUENCY_GHZ = 5.405;

/** The item of a Sentinel-1 product (SAFE: GRD, SLC, OCN). @throws {ProductError} */
export async function convertSentinel1(files: ProductFiles): Promise<StacItem> {
  const manifest = await readManifest(files, "manifest.safe");
  const { root, objects } = manifest;
  const id = files.name.replace(/\.SAFE$/i, "");
  const polarizations = findAll(root, "transmitterReceiverPolarisation").flatMap((node) => textOf(node) ?? []);
  const productType = findText(root, "productType") ?? /_(GRD|SLC|OCN|RAW)/.exec(id)?.[1] ?? "";
  const resolution = /_(?:GRD|SLC|OCN|RAW)([FHM])_/.exec(id)?.[1];
  return createItem({
    id,
    collection: `sentinel-1-${productType.toLowerCase() || "products"}`,
    footprint: toFootprint(manifest.ring),
    properties: {
      datetime: middleOf(manifest.start, manifest.stop),
      start_datetime: manifest.start,
      end_datetime: manifest.stop,
      platform: manifest.platform,
      constellation: "sentinel-1",
      instruments: ["c-sar"],
      providers: [ESA],
      "processing:level": productType === "OCN" ? "L2" : "L1",
      "processing:software": readSoftware(root),
      "product:type": productType === "" ? undefined : productType,
      ...describeTimeliness(findText(root, "productTimelinessCategory")),
      "sar:instrument_mode": findText(root, "mode") ?? /^S1\w_(\w\w)/.exec(id)?.[1],
      "sar:frequency_band": "C",
      "sar:center_frequency": CENTER_FREQUENCY_GHZ,
      "sar:polarizations": polarizations,
      "sar:product_type": productType,
      ...(await readSpacing(files, objects)),
      "sat:orbit_state": manifest.orbitState,
      "sat:absolute_orbit": manifest.absoluteOrbit,
      "sat:relative_orbit": manifest.relativeOrbit,
      "sat:platform_international_designator": findText(root, "nssdcIdentifier"),
      "sat:anx_datetime": toUtc(findText(root, "ascendingNodeTime") ?? ""),
      "s1:resolution": resolution === undefined ? undefined : { F: "full", H: "high", M: "medium" }[resolution],
    },
    assets: describeObjects(files, objects, productType),
    links: [COPERNICUS_LICENCE],
  });
}

type Objects = Awaited<ReturnType<typeof readManifest>>["objects"];

function readSoftware(root: Parameters<typeof findAll>[0]): Readonly<Record<string, string>> | undefined {
  const [first] = findAll(root, "software").filter((node) => typeof node === "object");
  const { "@name": name, "@version": version } = first ?? {};
  return typeof name === "string" && name !== "" && typeof version === "string" ? { [name]: version } : undefined;
}

/** What the first annotation says of pixels and looks; a product without its annotations has it not. */
async function readSpacing(files: ProductFiles, objects: Objects): Promise<Readonly<Record<string, unknown>>> {
  const path = objects.find(({ kind }) => kind === "s1Level1ProductSchema")?.path;
  const bytes = path === undefined ? undefined : await files.read(path).catch(() => undefined);
  if (path === undefined || bytes === undefined) {
    return {};
  }
  const annotation = await parseXml(bytes, path);
  const [range] = findAll(annotation, "rangeProcessing");
  const [azimuth] = findAll(annotation, "azimuthProcessing");
  return {
    "sar:pixel_spacing_range": findNumber(annotation, "rangePixelSpacing"),
    "sar:pixel_spacing_azimuth": findNumber(annotation, "azimuthPixelSpacing"),
    "sar:looks_range": findNumber(range, "numberOfLooks"),
    "sar:looks_azimuth": findNumber(azimuth, "numberOfLooks"),
    "view:incidence_angle": findNumber(annotation, "incidenceAngleMidSwath"),
    "proj:shape": toShape(findNumber(annotation, "numberOfLines"), findNumber(annotation, "numberOfSamples")),
    "proj:code": null,
  };
}

const toShape = (lines: number | undefined, samples: number | undefined): readonly number[] | undefined =>
  lines === undefined || samples === undefined ? undefined : [lines, samples];

function describeObjects(files: ProductFiles, objects: Objects, productType: string): Record<string, StacAsset> {
  const assets: Record<string, StacAsset> = {
    safe_manifest: { href: files.href("manifest.safe"), type: "application/xml", roles: ["metadata"] },
  };
  const isPresent = (path: string): boolean => files.paths.length === 0 || files.paths.includes(path);
  for (const { path, kind } of objects.filter((object) => isPresent(object.path))) {
    const [, swath = "", polarization = ""] = /s1\w-(\w+?)-\w+-(\w\w)-/i.exec(path) ?? [];
    const name =
      swath.length > 2 && /\d$/.test(swath) && productType === "SLC" ? `${swath}-${polarization}` : polarization;
    if (/Measurement/i.test(kind)) {
      const isRaster = /\.tiff?$/i.test(path);
      assets[name || path] = {
        href: files.href(path),
        type: isRaster ? "image/tiff; application=geotiff" : "application/x-netcdf",
        title: `${polarization.toUpperCase()} ${productType === "SLC" ? "complex values" : "amplitude"}`,
        roles: ["data"],
        "sar:polarizations": [polarization.toUpperCase()],
        ...(isRaster && {
          bands: [
            { name: polarization.toUpperCase(), data_type: productType === "SLC" ? "cint16" : "uint16", nodata: 0 },
          ],
        }),
      };
    } else if (kind === "s1Level1ProductSchema" || /CalibrationSchema$|NoiseSchema$/.test(kind)) {
      const what = kind
        .replace(/^s1Level1/, "")
        .replace(/Schema$/, "")
        .toLowerCase();
      assets[`schema-${what}-${name}`] = { href: files.href(path), type: "application/xml", roles: ["metadata"] };
    } else if (/QuickLook/i.test(kind)) {
      assets["thumbnail"] = { href: files.href(path), type: "image/png", title: "Quick-look", roles: ["thumbnail"] };
    }
  }
  return assets;
}
