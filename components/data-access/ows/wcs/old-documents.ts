import type { Coverage } from "../../coverages/coverage.ts";
import { escapeXml } from "../ows-error.ts";
import { type CoverageEntry, FORMATS } from "./capabilities.ts";
import { element } from "./xml.ts";

const NAMES_10 = `xmlns="http://www.opengis.net/wcs" xmlns:gml="http://www.opengis.net/gml" xmlns:xlink="http://www.w3.org/1999/xlink"`;
const NAMES_11 = `xmlns="http://www.opengis.net/wcs/1.1.1" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink"`;
const METHODS_10 = ["nearest neighbor", "bilinear", "bicubic"];

const bboxOf = ({ bbox: [west, south, east, north] }: Pick<CoverageEntry, "bbox">) =>
  west <= east ? [west, south, east, north] : [-180, south, 180, north];

/** Capabilities of WCS 1.0.0 (OGC 03-065r6). */
export function writeCapabilities10(title: string, url: string, entries: readonly CoverageEntry[]): string {
  const http = `<DCPType><HTTP><Get><OnlineResource xlink:href="${escapeXml(url)}?"/></Get></HTTP></DCPType>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<WCS_Capabilities ${NAMES_10} version="1.0.0">
<Service>${element("name", "WCS")}${element("label", title)}<fees>NONE</fees><accessConstraints>NONE</accessConstraints></Service>
<Capability><Request><GetCapabilities>${http}</GetCapabilities><DescribeCoverage>${http}</DescribeCoverage><GetCoverage>${http}</GetCoverage></Request><Exception><Format>application/vnd.ogc.se_xml</Format></Exception></Capability>
<ContentMetadata>${entries
    .map((entry) => {
      const [west, south, east, north] = bboxOf(entry);
      return `<CoverageOfferingBrief>${element("name", entry.id)}${element("label", entry.title)}<lonLatEnvelope srsName="urn:ogc:def:crs:OGC:1.3:CRS84"><gml:pos>${west} ${south}</gml:pos><gml:pos>${east} ${north}</gml:pos></lonLatEnvelope></CoverageOfferingBrief>`;
    })
    .join("\n")}</ContentMetadata>
</WCS_Capabilities>`;
}

/** Coverages as WCS 1.0.0 describes them. */
export function writeDescription10(coverages: readonly Coverage[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<CoverageDescription ${NAMES_10} version="1.0.0">${coverages.map(writeOffering).join("\n")}</CoverageDescription>`;
}

function writeOffering({ layer, fields, grid }: Coverage): string {
  const [west, south, east, north] = bboxOf(layer);
  const [minX, minY, maxX, maxY] = grid.bbox;
  const [x, y] = [(maxX - minX) / grid.width, (maxY - minY) / grid.height];
  const code = grid.crs.id === "OGC:CRS84" ? "EPSG:4326" : grid.crs.id;
  const systems = [...new Set([code, "EPSG:4326", "EPSG:3857"])];
  return `<CoverageOffering>${element("name", layer.id)}${element("label", layer.title)}<lonLatEnvelope srsName="urn:ogc:def:crs:OGC:1.3:CRS84"><gml:pos>${west} ${south}</gml:pos><gml:pos>${east} ${north}</gml:pos></lonLatEnvelope>
<domainSet><spatialDomain><gml:Envelope srsName="${code}"><gml:pos>${minX} ${minY}</gml:pos><gml:pos>${maxX} ${maxY}</gml:pos></gml:Envelope><gml:RectifiedGrid dimension="2"><gml:limits><gml:GridEnvelope><gml:low>0 0</gml:low><gml:high>${grid.width - 1} ${grid.height - 1}</gml:high></gml:GridEnvelope></gml:limits><gml:axisName>x</gml:axisName><gml:axisName>y</gml:axisName><gml:origin><gml:pos>${minX + x / 2} ${maxY - y / 2}</gml:pos></gml:origin><gml:offsetVector>${x} 0.0</gml:offsetVector><gml:offsetVector>0.0 ${-y}</gml:offsetVector></gml:RectifiedGrid></spatialDomain></domainSet>
<rangeSet><RangeSet>${element("name", "bands")}${element("label", "Bands")}<axisDescription><AxisDescription>${element("name", "bands")}${element("label", "Bands")}<values>${fields.map(({ name }) => `<singleValue>${escapeXml(name)}</singleValue>`).join("")}</values></AxisDescription></axisDescription></RangeSet></rangeSet>
<supportedCRSs>${systems.map((id) => element("requestResponseCRSs", id)).join("")}${element("nativeCRSs", code)}</supportedCRSs><supportedFormats nativeFormat="GeoTIFF"><formats>GeoTIFF</formats></supportedFormats><supportedInterpolations default="nearest neighbor">${METHODS_10.map((name) => element("interpolationMethod", name)).join("")}</supportedInterpolations></CoverageOffering>`;
}

/** Capabilities of WCS 1.1.1 (OGC 07-067r2). */
export function writeCapabilities11(title: string, url: string, entries: readonly CoverageEntry[]): string {
  const operation = (name: string) =>
    `<ows:Operation name="${name}"><ows:DCP><ows:HTTP><ows:Get xlink:href="${escapeXml(url)}?"/></ows:HTTP></ows:DCP></ows:Operation>`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities ${NAMES_11} version="1.1.1">
<ows:ServiceIdentification>${element("ows:Title", title)}<ows:ServiceType>WCS</ows:ServiceType><ows:ServiceTypeVersion>1.1.1</ows:ServiceTypeVersion><ows:Fees>NONE</ows:Fees><ows:AccessConstraints>NONE</ows:AccessConstraints></ows:ServiceIdentification>
<ows:ServiceProvider>${element("ows:ProviderName", title)}<ows:ServiceContact/></ows:ServiceProvider>
<ows:OperationsMetadata>${["GetCapabilities", "DescribeCoverage", "GetCoverage"].map(operation).join("")}</ows:OperationsMetadata>
<Contents>${entries
    .map((entry) => {
      const [west, south, east, north] = bboxOf(entry);
      return `<CoverageSummary>${element("ows:Title", entry.title)}<ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>${element("Identifier", entry.id)}</CoverageSummary>`;
    })
    .join("\n")}</Contents>
</Capabilities>`;
}

/** Coverages as WCS 1.1.1 describes them. */
export function writeDescription11(coverages: readonly Coverage[]): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n<CoverageDescriptions ${NAMES_11}>${coverages.map(writeDescription).join("\n")}</CoverageDescriptions>`;
}

function writeDescription({ layer, fields, grid }: Coverage): string {
  const [west, south, east, north] = bboxOf(layer);
  const [minX, minY, maxX, maxY] = grid.bbox;
  const [x, y] = [(maxX - minX) / grid.width, (maxY - minY) / grid.height];
  const urn =
    grid.crs.id === "OGC:CRS84"
      ? "urn:ogc:def:crs:OGC:1.3:CRS84"
      : grid.crs.id.replace("EPSG:", "urn:ogc:def:crs:EPSG::");
  const pair = (east: number, north: number) => (grid.crs.isNorthFirst ? `${north} ${east}` : `${east} ${north}`);
  return `<CoverageDescription>${element("ows:Title", layer.title)}${element("Identifier", layer.id)}<Domain><SpatialDomain><ows:BoundingBox crs="urn:ogc:def:crs:OGC:1.3:CRS84" dimensions="2"><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:BoundingBox><ows:BoundingBox crs="${urn}" dimensions="2"><ows:LowerCorner>${pair(minX + x / 2, minY + y / 2)}</ows:LowerCorner><ows:UpperCorner>${pair(maxX - x / 2, maxY - y / 2)}</ows:UpperCorner></ows:BoundingBox><GridCRS>${element("GridBaseCRS", urn)}<GridType>urn:ogc:def:method:WCS:1.1:2dSimpleGrid</GridType><GridOrigin>${pair(minX + x / 2, maxY - y / 2)}</GridOrigin><GridOffsets>${pair(x, -y)}</GridOffsets><GridCS>urn:ogc:def:cs:OGC:0.0:Grid2dSquareCS</GridCS></GridCRS></SpatialDomain></Domain><Range><Field>${element("Identifier", "bands")}<Definition><ows:AnyValue/></Definition><InterpolationMethods><InterpolationMethod>nearest</InterpolationMethod><InterpolationMethod>linear</InterpolationMethod><Default>nearest</Default></InterpolationMethods><Axis identifier="bands"><AvailableKeys>${fields.map(({ name }) => element("Key", name)).join("")}</AvailableKeys></Axis></Field></Range>${element("SupportedCRS", urn)}<SupportedCRS>urn:ogc:def:crs:EPSG::4326</SupportedCRS>${FORMATS.slice(
    0,
    1,
  )
    .map((format) => element("SupportedFormat", format))
    .join("")}</CoverageDescription>`;
}
