import { escapeXml } from "../ows-error.ts";

const GML2 = "application/vnd.ogc.gml";
const GML3 = "application/gml+xml";
export const INFO_TYPES = [
  "application/json",
  "application/geo+json",
  "text/plain",
  "text/html",
  "text/xml",
  GML2,
  GML3,
] as const;

/** What a scene has at a pixel. */
export interface Value {
  readonly layer: string;
  readonly item: string;
  readonly datetime: string | null;
  /** By asset, one a band. */
  readonly values: Readonly<Record<string, readonly (number | null)[]>>;
}

interface Place {
  readonly type: "Point";
  /** Degrees, longitude first. */
  readonly coordinates: readonly [number, number];
}

/** The values at a pixel as one of `INFO_TYPES`; `place` is `null` for a pixel that is nowhere on Earth. */
export function writeInfo(found: readonly Value[], type: string, place: Place | null): string {
  const rows = found.flatMap(({ layer, item, datetime, values }) =>
    Object.entries(values).map(
      ([asset, bands]) =>
        [layer, item, datetime ?? "", asset, bands.map((value) => value ?? "nodata").join(" ")] as const,
    ),
  );
  switch (type) {
    case "text/plain":
      return rows.map((row) => row.join("\t")).join("\n");
    case "text/html": {
      const cells = rows.map((row) => `<tr>${row.map((cell) => `<td>${escapeXml(cell)}`).join("")}</tr>`).join("");
      return `<!DOCTYPE html><title>Values</title><table><tr><th>Layer<th>Item<th>Time<th>Asset<th>Values</tr>${cells}</table>`;
    }
    case "text/xml": {
      const values = rows.map(
        ([layer, item, time, asset, value]) =>
          `<Value layer="${escapeXml(layer)}" item="${escapeXml(item)}" time="${escapeXml(time)}" asset="${escapeXml(asset)}">${escapeXml(value)}</Value>`,
      );
      return `<?xml version="1.0" encoding="UTF-8"?><FeatureInfoResponse>${values.join("")}</FeatureInfoResponse>`;
    }
    case GML2:
    case GML3:
      return writeGml(found, type, place);
    default:
      return JSON.stringify({
        type: "FeatureCollection",
        features: found.map(({ layer, item, datetime, values }) => ({
          type: "Feature",
          id: item,
          geometry: place,
          properties: { layer, datetime, ...values },
        })),
      });
  }
}

/** A feature collection of WFS 1.0 (GML 2) or 1.1 (GML 3), as GDAL and QGIS read them. Values without data are left out. */
function writeGml(found: readonly Value[], type: string, place: Place | null): string {
  const members = found.map(({ layer, item, datetime, values }, at) => {
    const properties: readonly (readonly [string, string])[] = [
      ["layer", layer],
      ["item", item],
      ...(datetime === null ? [] : [["datetime", datetime] as const]),
      ...Object.entries(values).flatMap(([asset, bands]) =>
        bands.flatMap((value, band) =>
          value === null ? [] : [[bands.length === 1 ? asset : `${asset}_b${band + 1}`, String(value)] as const],
        ),
      ),
    ];
    const id = `values.${at + 1}`;
    const own = properties.map(([name, value]) => {
      const tag = toTag(name);
      return `<swath:${tag}>${escapeXml(value)}</swath:${tag}>`;
    });
    return `<gml:featureMember><swath:values ${type === GML2 ? "fid" : "gml:id"}="${id}">${writePlace(type, place)}${own.join("")}</swath:values></gml:featureMember>`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<wfs:FeatureCollection xmlns:wfs="http://www.opengis.net/wfs" xmlns:gml="http://www.opengis.net/gml" xmlns:swath="urn:swath:values">${type === GML2 ? "<gml:boundedBy><gml:null>unknown</gml:null></gml:boundedBy>" : ""}${members.join("")}</wfs:FeatureCollection>`;
}

/** GML 2 has x before y; in GML 3 the URN has the order of the system's axes. */
function writePlace(type: string, place: Place | null): string {
  if (place === null) {
    return "";
  }
  const [longitude, latitude] = place.coordinates;
  const point =
    type === GML2
      ? `<gml:Point srsName="EPSG:4326"><gml:coordinates>${longitude},${latitude}</gml:coordinates></gml:Point>`
      : `<gml:Point srsName="urn:ogc:def:crs:EPSG::4326"><gml:pos>${latitude} ${longitude}</gml:pos></gml:Point>`;
  return `<swath:geometry>${point}</swath:geometry>`;
}

/** A name of XML: letters, digits, hyphens, dots and underscores, a letter or underscore first. */
const toTag = (name: string) => name.replaceAll(/[^\w.-]/g, "_").replace(/^(?![A-Za-z_])/, "_");
