import type { Grid } from "@swath/raster";

import type { Coverage, Field } from "../../coverages/coverage.ts";
import type { Layer } from "../../layers/layer.ts";
import { crsUri } from "../../tiles/tile-matrix-sets.ts";
import { escapeXml } from "../ows-error.ts";
import { element, toXmlId } from "./xml.ts";

/** Ranges of whole numbers by type: what a value can be. */
const RANGES: ReadonlyMap<string, readonly [number, number]> = new Map(
  Object.entries<readonly [number, number]>({
    uint8: [0, 255],
    int8: [-128, 127],
    uint16: [0, 65_535],
    int16: [-32_768, 32_767],
    uint32: [0, 4_294_967_295],
    int32: [-2_147_483_648, 2_147_483_647],
  }),
);

/**
 * The type that a coverage has in EO-WCS (OGC 10-140r1, table 8): a scene, or the mosaic of many. Both are kinds of `RectifiedGridCoverage`,
 * which is what their descriptions say: GDAL knows no other name there.
 */
export const subtypeOf = (isScene: boolean): "RectifiedDataset" | "RectifiedStitchedMosaic" =>
  isScene ? "RectifiedDataset" : "RectifiedStitchedMosaic";

/** A coverage as `wcs:CoverageDescription` (OGC 09-110r4 with 10-140r1 for Earth observation). */
export function writeDescription({ layer, fields, grid }: Coverage): string {
  const id = toXmlId(layer.id);
  return `<wcs:CoverageDescription gml:id="${id}">
${writeEnvelope(grid)}
<wcs:CoverageId>${escapeXml(layer.id)}</wcs:CoverageId>
${writeEarthObservation(layer, id)}${writeDomain(grid, id)}
${writeRangeType(fields)}
<wcs:ServiceParameters><wcs:CoverageSubtype>RectifiedGridCoverage</wcs:CoverageSubtype><wcs:nativeFormat>image/tiff</wcs:nativeFormat></wcs:ServiceParameters>
</wcs:CoverageDescription>`;
}

/** Coordinates of a system in the order of its axes. */
function axesOf({ crs }: Pick<Grid, "crs">) {
  const order = <T>(east: T, north: T): readonly [T, T] => (crs.isNorthFirst ? [north, east] : [east, north]);
  return {
    labels: order(crs.isGeographic ? "Long" : "E", crs.isGeographic ? "Lat" : "N").join(" "),
    unit: crs.isGeographic ? "deg deg" : "m m",
    srs: crsUri(crs),
    pair: (east: number, north: number) => order(east, north).join(" "),
  };
}

export function writeEnvelope(grid: Grid): string {
  const { labels, unit, srs, pair } = axesOf(grid);
  const [minX, minY, maxX, maxY] = grid.bbox;
  return `<gml:boundedBy><gml:Envelope srsName="${srs}" axisLabels="${labels}" uomLabels="${unit}" srsDimension="2"><gml:lowerCorner>${pair(minX, minY)}</gml:lowerCorner><gml:upperCorner>${pair(maxX, maxY)}</gml:upperCorner></gml:Envelope></gml:boundedBy>`;
}

/** The first axis of the grid runs along rows, the second down columns. */
export function writeDomain(grid: Grid, id: string): string {
  const { labels, srs, pair } = axesOf(grid);
  const { bbox, width, height } = grid;
  const [x, y] = [(bbox[2] - bbox[0]) / width, (bbox[3] - bbox[1]) / height];
  return `<gml:domainSet><gml:RectifiedGrid dimension="2" gml:id="${id}_grid"><gml:limits><gml:GridEnvelope><gml:low>0 0</gml:low><gml:high>${width - 1} ${height - 1}</gml:high></gml:GridEnvelope></gml:limits><gml:axisLabels>${labels}</gml:axisLabels><gml:origin><gml:Point gml:id="${id}_origin" srsName="${srs}"><gml:pos>${pair(bbox[0] + x / 2, bbox[3] - y / 2)}</gml:pos></gml:Point></gml:origin><gml:offsetVector srsName="${srs}">${pair(x, 0)}</gml:offsetVector><gml:offsetVector srsName="${srs}">${pair(0, -y)}</gml:offsetVector></gml:RectifiedGrid></gml:domainSet>`;
}

/** Names, units, values that stand for none, and the range of whole numbers by type (OGC 08-094r1). */
export function writeRangeType(fields: readonly Field[]): string {
  const list = fields.map(({ name, title, band: { nodata, unit, type, scale } }) => {
    const nil =
      nodata === undefined
        ? ""
        : `<swe:nilValues><swe:NilValues><swe:nilValue reason="http://www.opengis.net/def/nil/OGC/0/inapplicable">${nodata}</swe:nilValue></swe:NilValues></swe:nilValues>`;
    const range = scale === undefined ? RANGES.get(type) : undefined;
    const constraint =
      range === undefined
        ? ""
        : `<swe:constraint><swe:AllowedValues><swe:interval>${range.join(" ")}</swe:interval></swe:AllowedValues></swe:constraint>`;
    return `<swe:field name="${escapeXml(name)}"><swe:Quantity>${element("swe:description", title)}${nil}<swe:uom code="${escapeXml(unit ?? "1")}"/>${constraint}</swe:Quantity></swe:field>`;
  });
  return `<gmlcov:rangeType><swe:DataRecord>${list.join("")}</swe:DataRecord></gmlcov:rangeType>`;
}

/** EO metadata (OGC 10-157r4): when, and where. The instrument is in the item of the catalogue; here it is not known. */
export function writeEarthObservation({ id, bbox, interval: [begin, end] }: Layer, xmlId: string): string {
  const [west, south, east, north] = bbox[0] <= bbox[2] ? bbox : [-180, bbox[1], 180, bbox[3]];
  const position = (name: string, time: string | null) =>
    time === null ? `<gml:${name} indeterminatePosition="unknown"/>` : element(`gml:${name}`, time);
  const [from, to] = [begin ?? end, end ?? begin];
  const footprint = `<eop:Footprint gml:id="${xmlId}_footprint"><eop:multiExtentOf><gml:MultiSurface gml:id="${xmlId}_surface" srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><gml:surfaceMember><gml:Polygon gml:id="${xmlId}_polygon"><gml:exterior><gml:LinearRing><gml:posList>${south} ${west} ${south} ${east} ${north} ${east} ${north} ${west} ${south} ${west}</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></gml:surfaceMember></gml:MultiSurface></eop:multiExtentOf></eop:Footprint>`;
  return `<gmlcov:metadata><gmlcov:Extension><wcseo:EOMetadata><eop:EarthObservation xmlns:eop="http://www.opengis.net/eop/2.0" xmlns:om="http://www.opengis.net/om/2.0" gml:id="${xmlId}_eop"><om:phenomenonTime><gml:TimePeriod gml:id="${xmlId}_time">${position("beginPosition", from)}${position("endPosition", to)}</gml:TimePeriod></om:phenomenonTime><om:resultTime><gml:TimeInstant gml:id="${xmlId}_result">${position("timePosition", to)}</gml:TimeInstant></om:resultTime><om:procedure nilReason="unknown" xsi:nil="true"/><om:observedProperty nilReason="unknown" xsi:nil="true"/><om:featureOfInterest>${footprint}</om:featureOfInterest><om:result/><eop:metaDataProperty><eop:EarthObservationMetaData>${element("eop:identifier", id)}<eop:acquisitionType>NOMINAL</eop:acquisitionType><eop:status>ARCHIVED</eop:status></eop:EarthObservationMetaData></eop:metaDataProperty></eop:EarthObservation></wcseo:EOMetadata></gmlcov:Extension></gmlcov:metadata>
`;
}
