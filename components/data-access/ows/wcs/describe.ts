import type { Coverage } from "../../coverages/coverage.ts";
import { crsUri } from "../../tiles/tile-matrix-sets.ts";
import { escapeXml } from "../ows-error.ts";
import { element, toXmlId } from "./xml.ts";

/** A coverage as `wcs:CoverageDescription` (OGC 09-110r4 with 10-140r1 for Earth observation). */
export function writeDescription({ layer, fields, grid }: Coverage): string {
  const { crs, bbox, width, height } = grid;
  const [minX, minY, maxX, maxY] = bbox;
  const [x, y] = [(maxX - minX) / width, (maxY - minY) / height];
  const isNorthFirst = crs.isNorthFirst;
  const order = <T>(east: T, north: T): readonly [T, T] => (isNorthFirst ? [north, east] : [east, north]);
  const labels = order(crs.isGeographic ? "Long" : "E", crs.isGeographic ? "Lat" : "N").join(" ");
  const unit = crs.isGeographic ? "deg deg" : "m m";
  const srs = crsUri(crs);
  const id = toXmlId(layer.id);
  const pair = (east: number, north: number) => order(east, north).join(" ");
  return `<wcs:CoverageDescription gml:id="${id}">
<gml:boundedBy><gml:Envelope srsName="${srs}" axisLabels="${labels}" uomLabels="${unit}" srsDimension="2"><gml:lowerCorner>${pair(minX, minY)}</gml:lowerCorner><gml:upperCorner>${pair(maxX, maxY)}</gml:upperCorner></gml:Envelope></gml:boundedBy>
<wcs:CoverageId>${escapeXml(layer.id)}</wcs:CoverageId>
${layer.kind === "item" ? writeEarthObservation(layer, id) : ""}<gml:domainSet><gml:RectifiedGrid dimension="2" gml:id="${id}_grid"><gml:limits><gml:GridEnvelope><gml:low>0 0</gml:low><gml:high>${width - 1} ${height - 1}</gml:high></gml:GridEnvelope></gml:limits><gml:axisLabels>${labels}</gml:axisLabels><gml:origin><gml:Point gml:id="${id}_origin" srsName="${srs}"><gml:pos>${pair(minX + x / 2, maxY - y / 2)}</gml:pos></gml:Point></gml:origin><gml:offsetVector srsName="${srs}">${pair(x, 0)}</gml:offsetVector><gml:offsetVector srsName="${srs}">${pair(0, -y)}</gml:offsetVector></gml:RectifiedGrid></gml:domainSet>
<gmlcov:rangeType><swe:DataRecord>${fields
    .map(
      ({ name, title, band }) =>
        `<swe:field name="${escapeXml(name)}"><swe:Quantity>${element("swe:description", title)}${band.nodata === undefined ? "" : `<swe:nilValues><swe:NilValues><swe:nilValue reason="http://www.opengis.net/def/nil/OGC/0/inapplicable">${band.nodata}</swe:nilValue></swe:NilValues></swe:nilValues>`}<swe:uom code="${escapeXml(band.unit ?? "1")}"/></swe:Quantity></swe:field>`,
    )
    .join("")}</swe:DataRecord></gmlcov:rangeType>
<wcs:ServiceParameters><wcs:CoverageSubtype>RectifiedGridCoverage</wcs:CoverageSubtype><wcs:nativeFormat>image/tiff</wcs:nativeFormat></wcs:ServiceParameters>
</wcs:CoverageDescription>`;
}

function writeEarthObservation({ id, bbox, interval: [begin, end] }: Coverage["layer"], xmlId: string): string {
  const [west, south, east, north] = bbox;
  const [from, to] = [begin ?? end ?? "", end ?? begin ?? ""];
  return `<gmlcov:metadata><gmlcov:Extension><wcseo:EOMetadata><eop:EarthObservation xmlns:eop="http://www.opengis.net/eop/2.0" xmlns:om="http://www.opengis.net/om/2.0" gml:id="${xmlId}_eop"><om:phenomenonTime><gml:TimePeriod gml:id="${xmlId}_time">${element("gml:beginPosition", from)}${element("gml:endPosition", to)}</gml:TimePeriod></om:phenomenonTime><om:resultTime><gml:TimeInstant gml:id="${xmlId}_result">${element("gml:timePosition", to)}</gml:TimeInstant></om:resultTime><om:featureOfInterest><eop:Footprint gml:id="${xmlId}_footprint"><eop:multiExtentOf><gml:MultiSurface gml:id="${xmlId}_surface" srsName="http://www.opengis.net/def/crs/EPSG/0/4326"><gml:surfaceMember><gml:Polygon gml:id="${xmlId}_polygon"><gml:exterior><gml:LinearRing><gml:posList>${south} ${west} ${south} ${east} ${north} ${east} ${north} ${west} ${south} ${west}</gml:posList></gml:LinearRing></gml:exterior></gml:Polygon></gml:surfaceMember></gml:MultiSurface></eop:multiExtentOf></eop:Footprint></om:featureOfInterest><eop:metaDataProperty><eop:EarthObservationMetaData>${element("eop:identifier", id)}<eop:acquisitionType>NOMINAL</eop:acquisitionType><eop:status>ARCHIVED</eop:status></eop:EarthObservationMetaData></eop:metaDataProperty></eop:EarthObservation></wcseo:EOMetadata></gmlcov:Extension></gmlcov:metadata>
`;
}
