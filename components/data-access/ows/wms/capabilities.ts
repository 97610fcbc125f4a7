import { type Bbox, parseCrs, reprojectBbox } from "@swath/raster";

import type { Layer } from "../../layers/layer.ts";
import { parameterOf, placesOf } from "../../layers/position.ts";
import { escapeXml } from "../ows-error.ts";
import { IMAGE_TYPES } from "./image-types.ts";
import { INFO_TYPES } from "./write-info.ts";
import { LEGEND_WIDTH, legendHeightOf } from "./legend.ts";

/** Systems that are announced; any other with an EPSG code works as well. */
export const SYSTEMS = [
  "EPSG:3857",
  "EPSG:4326",
  "CRS:84",
  "EPSG:3035",
  "EPSG:3031",
  "EPSG:3413",
  "EPSG:3395",
] as const;
export const MAX_IMAGE_SIZE = 4096;
const SERVICE_KEYWORDS = ["Earth observation", "satellite imagery"];

interface CapabilitiesOptions {
  readonly version: "1.1.1" | "1.3.0";
  readonly title: string;
  /** Address of the service, without a query. */
  readonly url: string;
  readonly layers: readonly Layer[];
  /** The newest items of each layer, as layers of their own. */
  readonly scenes?: ReadonlyMap<string, readonly SceneEntry[]>;
}

export interface SceneEntry {
  readonly id: string;
  readonly title: string;
  readonly bbox: Bbox;
  readonly datetime: string | null;
}

/** The capabilities document of WMS 1.3.0 (OGC 06-042) or 1.1.1 (OGC 01-068r3). */
export function writeCapabilities(options: CapabilitiesOptions): string {
  return options.version === "1.3.0" ? writeVersion130(options) : writeVersion111(options);
}

function writeVersion130({ title, url, layers, scenes }: CapabilitiesOptions): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<WMS_Capabilities version="1.3.0" xmlns="http://www.opengis.net/wms" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/wms http://schemas.opengis.net/wms/1.3.0/capabilities_1_3_0.xsd">
<Service><Name>WMS</Name><Title>${escapeXml(title)}</Title>${writeKeywords(SERVICE_KEYWORDS)}${onlineResource(url)}<LayerLimit>20</LayerLimit><MaxWidth>${MAX_IMAGE_SIZE}</MaxWidth><MaxHeight>${MAX_IMAGE_SIZE}</MaxHeight></Service>
<Capability><Request>${operation("GetCapabilities", ["text/xml"], url)}${operation("GetMap", IMAGE_TYPES, url)}${operation("GetFeatureInfo", INFO_TYPES, url)}</Request>
<Exception><Format>XML</Format><Format>INIMAGE</Format><Format>BLANK</Format></Exception>
<Layer><Title>${escapeXml(title)}</Title>${SYSTEMS.map((id) => `<CRS>${id}</CRS>`).join("")}
${layers.map((layer) => writeLayer(layer, url, "1.3.0", scenes?.get(layer.id))).join("\n")}
</Layer></Capability></WMS_Capabilities>`;
}

function writeVersion111({ title, url, layers, scenes }: CapabilitiesOptions): string {
  const systems = SYSTEMS.filter((id) => id !== "CRS:84");
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE WMT_MS_Capabilities SYSTEM "http://schemas.opengis.net/wms/1.1.1/WMS_MS_Capabilities.dtd">
<WMT_MS_Capabilities version="1.1.1">
<Service><Name>OGC:WMS</Name><Title>${escapeXml(title)}</Title>${writeKeywords(SERVICE_KEYWORDS)}${onlineResource(url)}</Service>
<Capability><Request>${operation("GetCapabilities", ["application/vnd.ogc.wms_xml"], url)}${operation("GetMap", IMAGE_TYPES, url)}${operation("GetFeatureInfo", INFO_TYPES, url)}${operation("GetLegendGraphic", ["image/png"], url)}</Request>
<Exception><Format>application/vnd.ogc.se_xml</Format><Format>application/vnd.ogc.se_inimage</Format><Format>application/vnd.ogc.se_blank</Format></Exception>
<Layer><Title>${escapeXml(title)}</Title>${systems.map((id) => `<SRS>${id}</SRS>`).join("")}<LatLonBoundingBox minx="-180" miny="-90" maxx="180" maxy="90"/>
${layers.map((layer) => writeLayer(layer, url, "1.1.1", scenes?.get(layer.id))).join("\n")}
</Layer></Capability></WMT_MS_Capabilities>`;
}

const writeKeywords = (words: readonly string[]): string =>
  words.length === 0
    ? ""
    : `<KeywordList>${words.map((word) => `<Keyword>${escapeXml(word)}</Keyword>`).join("")}</KeywordList>`;

const XLINK = `xmlns:xlink="http://www.w3.org/1999/xlink" xlink:type="simple"`;
const onlineResource = (url: string) => `<OnlineResource ${XLINK} xlink:href="${escapeXml(url)}?"/>`;

function operation(name: string, formats: readonly string[], url: string): string {
  const list = formats.map((format) => `<Format>${format}</Format>`).join("");
  return `<${name}>${list}<DCPType><HTTP><Get>${onlineResource(url)}</Get></HTTP></DCPType></${name}>`;
}

function writeLayer(layer: Layer, url: string, version: "1.1.1" | "1.3.0", scenes: readonly SceneEntry[] = []): string {
  const styles = layer.styles.map((style) => {
    const { id, title } = style;
    const legend = `${url}?service=WMS&request=GetLegendGraphic&version=${version}&format=image/png&layer=${encodeURIComponent(layer.id)}&style=${encodeURIComponent(id)}`;
    return `<Style><Name>${escapeXml(id)}</Name><Title>${escapeXml(title)}</Title><LegendURL width="${LEGEND_WIDTH}" height="${legendHeightOf(style)}"><Format>image/png</Format><OnlineResource ${XLINK} xlink:href="${escapeXml(legend)}"/></LegendURL></Style>`;
  });
  const time = dimension(layer.interval, version);
  const own = dimensions(layer, version);
  return `<Layer queryable="1"><Name>${escapeXml(layer.id)}</Name><Title>${escapeXml(layer.title)}</Title><Abstract>${escapeXml(layer.description.slice(0, 2000))}</Abstract>${writeKeywords(layer.keywords)}${boxes(layer.bbox, version)}${joinDimensions([time, ...own])}${writeMetadataUrl(layer.id, url, version)}${styles.join("")}${scenes.map((scene) => writeScene(scene, layer, url, version)).join("")}</Layer>`;
}

/** The description of a layer as OGC API has it. Version 1.1.1 allows two kinds of metadata only, neither of which this is. */
function writeMetadataUrl(id: string, url: string, version: "1.1.1" | "1.3.0"): string {
  const address = new URL(`/collections/${encodeURIComponent(id)}`, url).href;
  return version === "1.1.1"
    ? ""
    : `<MetadataURL type="OGCAPI"><Format>application/json</Format><OnlineResource ${XLINK} xlink:href="${escapeXml(address)}"/></MetadataURL>`;
}

/** Styles and dimensions are those of its collection, except for the time: in version 1.1.1 its extent alone, which a layer redefines. */
function writeScene(
  { id, title, bbox, datetime }: SceneEntry,
  layer: Pick<Layer, "title" | "keywords">,
  url: string,
  version: "1.1.1" | "1.3.0",
): string {
  const abstract = `A scene of ${layer.title}${datetime === null ? "" : `, ${datetime}`}.`;
  const { declaration = "", extent = "" } = dimension([datetime, datetime], version) ?? {};
  const time = version === "1.3.0" ? declaration : extent;
  return `<Layer queryable="1"><Name>${escapeXml(id)}</Name><Title>${escapeXml(title)}</Title><Abstract>${escapeXml(abstract)}</Abstract>${writeKeywords(layer.keywords)}${boxes(bbox, version)}${time}${writeMetadataUrl(id, url, version)}</Layer>`;
}

function boxes(whole: Bbox, version: "1.1.1" | "1.3.0"): string {
  const [west, south, east, north] = withoutWrap(whole);
  const bbox =
    version === "1.3.0"
      ? `<EX_GeographicBoundingBox><westBoundLongitude>${west}</westBoundLongitude><eastBoundLongitude>${east}</eastBoundLongitude><southBoundLatitude>${south}</southBoundLatitude><northBoundLatitude>${north}</northBoundLatitude></EX_GeographicBoundingBox>`
      : `<LatLonBoundingBox minx="${west}" miny="${south}" maxx="${east}" maxy="${north}"/>`;
  return `${bbox}${boundingBoxes([west, south, east, north], version)}`;
}

function boundingBoxes(bbox: Bbox, version: "1.1.1" | "1.3.0"): string {
  const attribute = version === "1.3.0" ? "CRS" : "SRS";
  return ["EPSG:4326", "EPSG:3857"]
    .flatMap((id) => {
      const crs = parseCrs(id);
      // Web Mercator ends before the poles.
      const [south, north] =
        id === "EPSG:3857" ? [Math.max(bbox[1], -85.06), Math.min(bbox[3], 85.06)] : [bbox[1], bbox[3]];
      const box = reprojectBbox([bbox[0], south, bbox[2], north], parseCrs("OGC:CRS84"), crs);
      if (box === undefined) {
        return [];
      }
      const [a, b, c, d] = version === "1.3.0" && crs.isNorthFirst ? [box[1], box[0], box[3], box[2]] : box;
      return [`<BoundingBox ${attribute}="${id}" minx="${a}" miny="${b}" maxx="${c}" maxy="${d}"/>`];
    })
    .join("");
}

interface Dimension {
  readonly declaration: string;
  /** Of version 1.1.1, behind all declarations. */
  readonly extent: string;
}

const joinDimensions = (list: readonly (Dimension | undefined)[]): string =>
  [...list.map((each) => each?.declaration ?? ""), ...list.map((each) => each?.extent ?? "")].join("");

/** Without a time, all that there is is shown, the newest on top: the whole interval is the default. */
function dimension([start, end]: Layer["interval"], version: "1.1.1" | "1.3.0"): Dimension | undefined {
  if (start === null && end === null) {
    return undefined;
  }
  const [from, to] = [start ?? end ?? "", end ?? new Date().toISOString()];
  const [preset, values] = from === to ? [from, from] : [`${from}/${to}`, `${from}/${to}/P1D`];
  const attributes = `name="time" default="${escapeXml(preset)}" nearestValue="0"`;
  return version === "1.3.0"
    ? // The symbol is empty rather than left out: OGC's suite takes a scene's own time for one in other units without it.
      {
        declaration: `<Dimension ${attributes} multipleValues="1" units="ISO8601" unitSymbol="">${escapeXml(values)}</Dimension>`,
        extent: "",
      }
    : {
        declaration: `<Dimension name="time" units="ISO8601"/>`,
        extent: `<Extent ${attributes}>${escapeXml(values)}</Extent>`,
      };
}

/** Dimensions of the files beside the time (annex C.2 of 1.3.0). */
function dimensions(layer: Layer, version: "1.1.1" | "1.3.0"): readonly Dimension[] {
  return placesOf(layer).map((each): Dimension => {
    const { values, preset, unit = "" } = each;
    const name = parameterOf(each).replace(/^DIM_/, "").toLowerCase();
    const attributes = `name="${escapeXml(name)}" default="${escapeXml(preset)}" nearestValue="${values.length === 0 ? 1 : 0}"`;
    const extent = escapeXml((values.length === 0 ? [preset] : values).join(","));
    const units = `units="${escapeXml(unit)}"`;
    return version === "1.3.0"
      ? { declaration: `<Dimension ${attributes} multipleValues="0" ${units}>${extent}</Dimension>`, extent: "" }
      : {
          declaration: `<Dimension name="${escapeXml(name)}" ${units}/>`,
          extent: `<Extent ${attributes}>${extent}</Extent>`,
        };
  });
}

function withoutWrap([west, south, east, north]: Bbox): Bbox {
  return west <= east ? [west, south, east, north] : [-180, south, 180, north];
}
