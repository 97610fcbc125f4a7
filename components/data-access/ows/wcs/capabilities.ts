import type { Bbox } from "@swath/raster";

import type { Layer } from "../../layers/layer.ts";
import { escapeXml } from "../ows-error.ts";
import { NAMESPACES, element, toXmlId } from "./xml.ts";

/** A coverage or series as capabilities list it. */
export interface CoverageEntry {
  readonly id: string;
  readonly title: string;
  readonly bbox: Bbox;
  readonly interval: readonly [string | null, string | null];
  readonly isSeries: boolean;
}

export const toEntry = ({ id, title, bbox, interval }: Layer, isSeries: boolean): CoverageEntry => ({
  id,
  title,
  bbox,
  interval,
  isSeries,
});

const PROFILES = [
  "spec/WCS/2.0/conf/core",
  "spec/WCS_protocol-binding_get-kvp/1.0/conf/get-kvp",
  "spec/WCS_protocol-binding_post-xml/1.0/conf/post-xml",
  "spec/WCS_service-extension_crs/1.0/conf/crs",
  "spec/WCS_service-extension_interpolation/1.0/conf/interpolation",
  "spec/WCS_service-extension_range-subsetting/1.0/conf/record-subsetting",
  "spec/WCS_service-extension_scaling/1.0/conf/scaling",
  "spec/WCS_service-model_crs-predefined/1.0/conf/crs-predefined",
  "spec/WCS_geotiff-coverages/1.0/conf/geotiff-coverage",
  "spec/WCS_application-profile_earth-observation/1.0/conf/eowcs",
  "spec/WCS_application-profile_earth-observation/1.0/conf/eowcs_get-kvp",
  "spec/WCS_application-profile_earth-observation/1.1/conf/eowcs_geteocoverageset",
];
const OPERATIONS = ["GetCapabilities", "DescribeCoverage", "GetCoverage", "DescribeEOCoverageSet", "GetEOCoverageSet"];
const SYSTEMS = [4326, 3857, 3035, 3031, 3413];
export const FORMATS = ["image/tiff", "image/png", "image/jpeg"] as const;
const INTERPOLATIONS = ["nearest-neighbor", "linear", "cubic", "average"];

/** The capabilities document of WCS 2.0.1 (OGC 09-110r4), with the series of EO-WCS (OGC 10-140r1). */
export function writeCapabilities(title: string, url: string, entries: readonly CoverageEntry[]): string {
  const operation = (name: string) =>
    `<ows:Operation name="${name}"><ows:DCP><ows:HTTP><ows:Get xlink:href="${escapeXml(url)}?"/><ows:Post xlink:href="${escapeXml(url)}"><ows:Constraint name="PostEncoding"><ows:AllowedValues><ows:Value>XML</ows:Value></ows:AllowedValues></ows:Constraint></ows:Post></ows:HTTP></ows:DCP></ows:Operation>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<wcs:Capabilities ${NAMESPACES} xsi:schemaLocation="http://www.opengis.net/wcs/2.0 http://schemas.opengis.net/wcs/2.0/wcsAll.xsd" version="2.0.1">
<ows:ServiceIdentification>${element("ows:Title", title)}<ows:ServiceType codeSpace="OGC">OGC WCS</ows:ServiceType><ows:ServiceTypeVersion>2.0.1</ows:ServiceTypeVersion><ows:ServiceTypeVersion>1.1.1</ows:ServiceTypeVersion><ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>${PROFILES.map((profile) => element("ows:Profile", `http://www.opengis.net/${profile}`)).join("")}</ows:ServiceIdentification>
<ows:ServiceProvider>${element("ows:ProviderName", title)}<ows:ServiceContact/></ows:ServiceProvider>
<ows:OperationsMetadata>${OPERATIONS.map(operation).join("")}</ows:OperationsMetadata>
<wcs:ServiceMetadata>${FORMATS.map((format) => element("wcs:formatSupported", format)).join("")}<wcs:Extension><int:InterpolationMetadata>${INTERPOLATIONS.map((name) => element("int:InterpolationSupported", `http://www.opengis.net/def/interpolation/OGC/1/${name}`)).join("")}</int:InterpolationMetadata><crs:CrsMetadata>${SYSTEMS.map((code) => element("crs:crsSupported", `http://www.opengis.net/def/crs/EPSG/0/${code}`)).join("")}</crs:CrsMetadata></wcs:Extension></wcs:ServiceMetadata>
<wcs:Contents>${entries
    .filter(({ isSeries }) => !isSeries)
    .map(
      (entry) =>
        `<wcs:CoverageSummary>${element("ows:Title", entry.title)}${writeBox(entry.bbox)}${element("wcs:CoverageId", entry.id)}<wcs:CoverageSubtype>RectifiedGridCoverage</wcs:CoverageSubtype></wcs:CoverageSummary>`,
    )
    .join("\n")}
<wcs:Extension>${entries
    .filter(({ isSeries }) => isSeries)
    .map(writeSeries)
    .join("\n")}</wcs:Extension></wcs:Contents>
</wcs:Capabilities>`;
}

export function writeSeries({ id, bbox, interval: [begin, end] }: CoverageEntry): string {
  const [from, to] = [begin ?? end ?? "", end ?? new Date().toISOString()];
  const xmlId = toXmlId(id);
  return `<wcseo:DatasetSeriesSummary>${writeBox(bbox)}${element("wcseo:DatasetSeriesId", id)}<gml:TimePeriod gml:id="${xmlId}_period">${element("gml:beginPosition", from)}${element("gml:endPosition", to)}</gml:TimePeriod></wcseo:DatasetSeriesSummary>`;
}

export function writeBox([west, south, east, north]: Bbox): string {
  const [left, right] = west <= east ? [west, east] : [-180, 180];
  return `<ows:WGS84BoundingBox><ows:LowerCorner>${left} ${south}</ows:LowerCorner><ows:UpperCorner>${right} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>`;
}
