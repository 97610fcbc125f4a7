import { type XmlNode, findAll, findNumber } from "../xml.ts";

/** Elements of manifests with the percentage of a product that is such, and the names of the properties, as known converters call them. */
const PIXELS: Readonly<Record<string, string>> = {
  salineWaterPixels: "s3:saline_water",
  landPixels: "s3:land",
  coastalPixels: "s3:coastal",
  freshInlandWaterPixels: "s3:fresh_inland_water",
  tidalRegionPixels: "s3:tidal_region",
  cloudyPixels: "eo:cloud_cover",
  snowOrIcePixels: "s3:snow_or_ice",
  brightPixels: "s3:bright",
  invalidPixels: "s3:invalid",
  cosmeticPixels: "s3:cosmetic",
  duplicatedPixels: "s3:duplicated",
  saturatedPixels: "s3:saturated",
  dubiousSamples: "s3:dubious_samples",
  outOfRangePixels: "s3:out_of_range",
};
/** The same of altimeters. */
const PERCENTAGES: Readonly<Record<string, string>> = {
  lrmModePercentage: "s3:lrm_mode",
  sarModePercentage: "s3:sar_mode",
  landPercentage: "s3:land",
  closedSeaPercentage: "s3:closed_sea",
  continentalIcePercentage: "s3:continental_ice",
  openOceanPercentage: "s3:open_ocean",
};

/** What a Sentinel-3 product shows, in percent of its pixels. */
export function describeCoverage(manifest: XmlNode): Readonly<Record<string, number>> {
  const found = [
    ...Object.entries(PIXELS).map(([element, name]): readonly [string, number] => {
      const [first] = findAll(manifest, element);
      const text = typeof first === "object" ? first["@percentage"] : undefined;
      return [name, typeof text === "string" && text.trim() !== "" ? Number(text) : Number.NaN];
    }),
    ...Object.entries(PERCENTAGES).map(([element, name]): readonly [string, number] => [
      name,
      findNumber(manifest, element) ?? Number.NaN,
    ]),
  ];
  return Object.fromEntries(found.filter(([, value]) => value >= 0 && value <= 100));
}
