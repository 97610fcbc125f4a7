import type { StacAsset, StacItem } from "@swath/stac";

import { toFootprint } from "../footprint.ts";
import { COPERNICUS_LICENCE, ESA, createItem } from "../item.ts";
import type { ProductFiles } from "../product-files.ts";
import { describeCoverage } from "./sentinel3-coverage.ts";
import { middleOf, readManifest } from "./sentinel-safe.ts";
import { describeTimeliness } from "./timeliness.ts";
import { findText } from "../xml.ts";

const MANIFEST = "xfdumanifest.xml";
/** By the second part of a product's name; synergy products are of both imagers. */
const INSTRUMENTS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries<readonly string[]>({
    OL: ["olci"],
    SL: ["slstr"],
    SR: ["sral"],
    SY: ["olci", "slstr"],
  }),
);
/** Metres between pixels by product type, the finest where there are several: full and reduced resolution, and grids of products of higher levels. */
const GSD: readonly (readonly [RegExp, number])[] = [
  [/^OL_\d_\wRR/, 1200],
  [/^OL_\d_\wFR|^SY_2_SYN|^SR_/, 300],
  [/^SL_1_RBT/, 500],
  [/^SL_2_|^SY_2_V/, 1000],
  [/^SY_2_AOD/, 4500],
];

/** The item of a Sentinel-3 product (SEN3). @throws {ProductError} */
export async function convertSentinel3(files: ProductFiles): Promise<StacItem> {
  const manifest = await readManifest(files, MANIFEST);
  const { root, objects } = manifest;
  const id = (findText(root, "productName") ?? files.name).replace(/\.SEN3$/i, "");
  // S3A_OL_1_EFR____…: instrument, level, type.
  const [, instrument = "", level = "", type = ""] = /^S3\w_(\w\w)_(\d)_(\w{6})/.exec(id) ?? [];
  const productType = findText(root, "productType") ?? `${instrument}_${level}_${type}`;
  return createItem({
    id,
    collection: `sentinel-3-${productType.toLowerCase().replaceAll("_", "-").replace(/-+$/, "")}`,
    footprint: toFootprint(manifest.ring),
    properties: {
      datetime: middleOf(manifest.start, manifest.stop),
      start_datetime: manifest.start,
      end_datetime: manifest.stop,
      platform: manifest.platform,
      constellation: "sentinel-3",
      instruments: INSTRUMENTS.get(instrument) ?? [instrument.toLowerCase()],
      gsd: GSD.find(([pattern]) => pattern.test(productType))?.[1],
      providers: [{ ...ESA, name: "ESA and EUMETSAT" }],
      "processing:level": level === "" ? undefined : `L${level}`,
      "product:type": productType,
      ...describeTimeliness(findText(root, "timeliness")),
      "sat:orbit_state": manifest.orbitState,
      "sat:absolute_orbit": manifest.absoluteOrbit,
      "sat:relative_orbit": manifest.relativeOrbit,
      ...describeCoverage(root),
      "sat:platform_international_designator": findText(root, "nssdcIdentifier"),
    },
    assets: {
      safe_manifest: { href: files.href(MANIFEST), type: "application/xml", roles: ["metadata"] },
      ...Object.fromEntries(
        objects
          .filter(({ path }) => files.paths.length === 0 || files.paths.includes(path))
          .map(({ path }): [string, StacAsset] => [
            path.replace(/\.\w+$/, ""),
            {
              href: files.href(path),
              ...(/\.nc$/i.test(path)
                ? { type: "application/x-netcdf", roles: ["data"] }
                : /\.jpe?g$/i.test(path)
                  ? { type: "image/jpeg", roles: ["thumbnail"] }
                  : { roles: ["metadata"] }),
            },
          ]),
      ),
    },
    links: [COPERNICUS_LICENCE],
  });
}
