import type { Bbox } from "@swath/raster";

import type { Layer } from "../../layers/layer.ts";
import { escapeXml } from "../ows-error.ts";
import { subtypeOf } from "./describe.ts";
import { NAMESPACES, element, toXmlId } from "./xml.ts";

/** A coverage or series as capabilities list it. */
export interface CoverageEntry {
  readonly id: string;
  readonly title: string;
  readonly bbox: Bbox;
  readonly interval: readonly [string | null, string | null];
  readonly kind: "series" | "mosaic" | "scene";
}

export const toEntry = ({ id, title, bbox, interval }: Layer, kind: CoverageEntry["kind"]): CoverageEntry => ({
  id,
  title,
  bbox,
  interval,
  kind,
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
  "spec/GMLCOV_geotiff-coverages/1.0/conf/geotiff-coverage",
  "spec/GMLCOV/1.0/conf/gml-coverage",
  "spec/GMLCOV/1.0/conf/multipart",
  "spec/WCS_application-profile_earth-observation/1.0/conf/eowcs",
  "spec/WCS_application-profile_earth-observation/1.0/conf/eowcs_get-kvp",
  "spec/WCS_application-profile_earth-observation/1.1/conf/eowcs_geteocoverageset",
];
const OPERATIONS = ["GetCapabilities", "DescribeCoverage", "GetCoverage", "DescribeEOCoverageSet", "GetEOCoverageSet"];
const SYSTEMS = [4326, 3857, 3035, 3031, 3413];
export const FORMATS = ["image/tiff", "image/png", "image/jpeg"] as const;
export const GML_FORMAT = "application/gml+xml";
const INTERPOLATIONS = ["nearest-neighbor", "linear", "cubic", "average"];

/** The capabilities document of WCS 2.0.1 (OGC 09-110r4), with the series of EO-WCS (OGC 10-140r1). */
export function writeCapabilities(title: string, url: string, entries: readonly CoverageEntry[]): string {
  const encoding = `<ows:Constraint name="PostEncoding"><ows:AllowedValues><ows:Value>XML</ows:Value></ows:AllowedValues></ows:Constraint>`;
  const operation = (name: string) =>
    `<ows:Operation name="${name}"><ows:DCP><ows:HTTP><ows:Get xlink:href="${escapeXml(url)}?"/><ows:Post xlink:href="${escapeXml(url)}">${encoding}</ows:Post></ows:HTTP></ows:DCP></ows:Operation>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<wcs:Capabilities ${NAMESPACES} xsi:schemaLocation="http://www.opengis.net/wcs/2.0 http://schemas.opengis.net/wcs/2.0/wcsAll.xsd" version="2.0.1">
<ows:ServiceIdentification>${element("ows:Title", title)}<ows:ServiceType codeSpace="OGC">OGC WCS</ows:ServiceType><ows:ServiceTypeVersion>2.0.1</ows:ServiceTypeVersion><ows:ServiceTypeVersion>1.1.1</ows:ServiceTypeVersion><ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>${PROFILES.map((profile) => element("ows:Profile", `http://www.opengis.net/${profile}`)).join("")}</ows:ServiceIdentification>
<ows:ServiceProvider>${element("ows:ProviderName", title)}<ows:ServiceContact/></ows:ServiceProvider>
<ows:OperationsMetadata>${OPERATIONS.map(operation).join("")}${encoding}</ows:OperationsMetadata>
<wcs:ServiceMetadata>${[...FORMATS, GML_FORMAT].map((format) => element("wcs:formatSupported", format)).join("")}<wcs:Extension><int:InterpolationMetadata>${INTERPOLATIONS.map((name) => element("int:InterpolationSupported", `http://www.opengis.net/def/interpolation/OGC/1/${name}`)).join("")}</int:InterpolationMetadata><crs:CrsMetadata>${SYSTEMS.map((code) => element("crs:crsSupported", `http://www.opengis.net/def/crs/EPSG/0/${code}`)).join("")}</crs:CrsMetadata></wcs:Extension></wcs:ServiceMetadata>
<wcs:Contents>${entries
    .filter(({ kind }) => kind !== "series")
    .map(
      (entry) =>
        `<wcs:CoverageSummary>${element("ows:Title", entry.title)}${writeBox(entry.bbox)}${element("wcs:CoverageId", entry.id)}<wcs:CoverageSubtype>${subtypeOf(entry.kind === "scene")}</wcs:CoverageSubtype></wcs:CoverageSummary>`,
    )
    .join("\n")}
<wcs:Extension>${entries
    .filter(({ kind }) => kind === "series")
    .map(writeSeries)
    .join("\n")}</wcs:Extension></wcs:Contents>
</wcs:Capabilities>`;
}

function writeSeries(entry: CoverageEntry): string {
  return `<wcseo:DatasetSeriesSummary>${writeBox(entry.bbox)}${element("wcseo:DatasetSeriesId", entry.id)}${writePeriod(entry)}</wcseo:DatasetSeriesSummary>`;
}

/** A series as DescribeEOCoverageSet has it (OGC 10-140r1, table 16). */
export function writeSeriesDescription(entry: Omit<CoverageEntry, "kind">): string {
  const [west, south, east, north] = withoutWrap(entry.bbox);
  return `<wcseo:DatasetSeriesDescription gml:id="series_${toXmlId(entry.id)}"><gml:boundedBy><gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/4326" axisLabels="Lat Long" uomLabels="deg deg" srsDimension="2"><gml:lowerCorner>${south} ${west}</gml:lowerCorner><gml:upperCorner>${north} ${east}</gml:upperCorner></gml:Envelope></gml:boundedBy>${element("wcseo:DatasetSeriesId", entry.id)}${writePeriod(entry)}</wcseo:DatasetSeriesDescription>`;
}

function writePeriod({ id, interval: [begin, end] }: Omit<CoverageEntry, "kind">): string {
  const [from, to] = [begin ?? end ?? "", end ?? new Date().toISOString()];
  return `<gml:TimePeriod gml:id="${toXmlId(id)}_period">${element("gml:beginPosition", from)}${element("gml:endPosition", to)}</gml:TimePeriod>`;
}

function writeBox(bbox: Bbox): string {
  const [west, south, east, north] = withoutWrap(bbox);
  return `<ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>`;
}

const withoutWrap = ([west, south, east, north]: Bbox): Bbox =>
  west <= east ? [west, south, east, north] : [-180, south, 180, north];
