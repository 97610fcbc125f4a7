import type { StacAsset, StacItem } from "@swath/stac";

import { toFootprint } from "./footprint.ts";
import { COPERNICUS_LICENCE, ESA, createItem } from "./item.ts";
import type { ProductFiles } from "./product-files.ts";
import { middleOf, readManifest } from "./sentinel-safe.ts";
import { describeTimeliness } from "./timeliness.ts";
import { findText } from "./xml.ts";

const MANIFEST = "xfdumanifest.xml";

/** The item of a Sentinel-3 product (SEN3). @throws {ProductError} */
export async function convertSentinel3(files: ProductFiles): Promise<StacItem> {
  const manifest = await readManifest(files, MANIFEST);
  const { root, objects } = manifest;
  const id = (findText(root, "productName") ?? files.name).replace(/\.SEN3$/i, "");
  // S3A_OL_1_EFR____…: instrument, level, type.
  const [, instrument = "", level = "", type = ""] = /^S3\w_(\w\w)_(\d)_(\w{6})/.exec(id) ?? [];
  const productType = findText(root, "productType") ?? `${instrument}_${level}_${type}`;
  const instruments: Readonly<Record<string, string>> = { OL: "olci", SL: "slstr", SR: "sral", SY: "synergy" };
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
      instruments: [instruments[instrument] ?? instrument.toLowerCase()],
      providers: [{ ...ESA, name: "ESA and EUMETSAT" }],
      "processing:level": level === "" ? undefined : `L${level}`,
      "product:type": productType,
      ...describeTimeliness(findText(root, "timeliness")),
      "sat:orbit_state": manifest.orbitState,
      "sat:absolute_orbit": manifest.absoluteOrbit,
      "sat:relative_orbit": manifest.relativeOrbit,
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
