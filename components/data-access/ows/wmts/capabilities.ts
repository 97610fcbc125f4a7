import type { Layer, LayerDimension } from "../../layers/layer.ts";
import { parameterOf, placesOf } from "../../layers/position.ts";
import { TILE_MATRIX_SETS, type TileMatrixSet, scaleDenominatorOf } from "../../tiles/tile-matrix-sets.ts";
import { escapeXml } from "../ows-error.ts";
import { LEGEND_WIDTH, legendHeightOf } from "../wms/legend.ts";
import { INFO_TYPES } from "../wms/write-info.ts";

/** Parts of the document that a client can ask for alone (OGC 07-057r7, 7.1.1.1). There are no themes. */
export const SECTIONS = [
  "ServiceIdentification",
  "ServiceProvider",
  "OperationsMetadata",
  "Contents",
  "Themes",
] as const;
export type Section = (typeof SECTIONS)[number];
/** Media types of the document. */
export const CAPABILITIES_TYPES = ["application/xml", "text/xml"] as const;

interface CapabilitiesOptions {
  readonly title: string;
  readonly url: string;
  readonly restUrl: string;
  readonly layers: readonly Layer[];
  /** All where left out. */
  readonly sections?: ReadonlySet<Section> | undefined;
}

/** The capabilities document of WMTS 1.0.0 (OGC 07-057r7). */
export function writeWmtsCapabilities({ title, url, restUrl, layers, sections }: CapabilitiesOptions): string {
  const get = (address: string, encoding: string) =>
    `<ows:Get xlink:href="${escapeXml(address)}"><ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>${encoding}</ows:Value></ows:AllowedValues></ows:Constraint></ows:Get>`;
  const operation = (name: string, rest: string, parameter = "") =>
    `<ows:Operation name="${name}"><ows:DCP><ows:HTTP>${get(rest, "RESTful")}${get(`${url}?`, "KVP")}</ows:HTTP></ows:DCP>${parameter}</ows:Operation>`;
  const document = `${restUrl}/1.0.0/WMTSCapabilities.xml`;
  const formats = `<ows:Parameter name="AcceptFormats"><ows:AllowedValues>${CAPABILITIES_TYPES.map((type) => `<ows:Value>${type}</ows:Value>`).join("")}</ows:AllowedValues></ows:Parameter>`;
  const parts: Readonly<Record<Section, () => string>> = {
    ServiceIdentification: () =>
      `<ows:ServiceIdentification><ows:Title>${escapeXml(title)}</ows:Title><ows:ServiceType>OGC WMTS</ows:ServiceType><ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion></ows:ServiceIdentification>`,
    ServiceProvider: () =>
      `<ows:ServiceProvider><ows:ProviderName>${escapeXml(title)}</ows:ProviderName><ows:ServiceContact/></ows:ServiceProvider>`,
    OperationsMetadata: () =>
      `<ows:OperationsMetadata>${operation("GetCapabilities", document, formats)}${operation("GetTile", restUrl)}<ows:Operation name="GetFeatureInfo"><ows:DCP><ows:HTTP>${get(`${url}?`, "KVP")}</ows:HTTP></ows:DCP></ows:Operation></ows:OperationsMetadata>`,
    Contents: () =>
      `<Contents>\n${layers.map((layer) => writeLayer(layer, url, restUrl)).join("\n")}\n${TILE_MATRIX_SETS.map(writeSet).join("\n")}\n</Contents>`,
    Themes: () => "",
  };
  return `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd" version="1.0.0">
${SECTIONS.filter((name) => sections?.has(name) !== false)
  .map((name) => parts[name]())
  .join("\n")}
${sections === undefined ? `<ServiceMetadataURL xlink:href="${escapeXml(document)}"/>\n` : ""}</Capabilities>`;
}

/** Dimensions of the files, by the names that WMS has for them. Templates have them as parameters, which may be left out. */
function writeDimension(dimension: LayerDimension): string {
  const { name, values, preset, unit } = dimension;
  const all = values.length === 0 ? [preset] : values;
  return `<Dimension><ows:Title>${escapeXml(name)}</ows:Title><ows:Identifier>${escapeXml(parameterOf(dimension))}</ows:Identifier>${unit === undefined ? "" : `<ows:UOM>${escapeXml(unit)}</ows:UOM>`}<Default>${escapeXml(preset)}</Default>${all.map((value) => `<Value>${escapeXml(value)}</Value>`).join("")}</Dimension>`;
}

function writeLayer(layer: Layer, url: string, restUrl: string): string {
  const {
    id,
    title,
    description,
    bbox,
    interval: [start, end],
    styles,
  } = layer;
  const [west, south, east, north] = bbox[0] <= bbox[2] ? bbox : [-180, bbox[1], 180, bbox[3]];
  const hasTime = start !== null || end !== null;
  const values = escapeXml(`${start ?? end ?? ""}/${end ?? ".."}`);
  const time = hasTime
    ? `<Dimension><ows:Identifier>time</ows:Identifier><ows:UOM>ISO8601</ows:UOM><Default>default</Default><Value>default</Value><Value>${values}</Value></Dimension>`
    : "";
  const template = `${restUrl}/1.0.0/${encodeURIComponent(id)}/{Style}/${hasTime ? "{time}/" : ""}{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}`;
  const styleList = styles.map((style, at) => {
    const legend = `${url}?service=WMS&request=GetLegendGraphic&version=1.3.0&format=image/png&layer=${encodeURIComponent(id)}&style=${encodeURIComponent(style.id)}`;
    return `<Style isDefault="${at === 0}"><ows:Title>${escapeXml(style.title)}</ows:Title><ows:Identifier>${escapeXml(style.id)}</ows:Identifier><LegendURL format="image/png" xlink:href="${escapeXml(legend)}" width="${LEGEND_WIDTH}" height="${legendHeightOf(style)}"/></Style>`;
  });
  const sets = TILE_MATRIX_SETS.map(
    (set) => `<TileMatrixSetLink><TileMatrixSet>${set.id}</TileMatrixSet></TileMatrixSetLink>`,
  );
  const places = placesOf(layer);
  const query = places.map(parameterOf).map((name) => `${encodeURIComponent(name)}={${name}}`);
  const ending = query.length === 0 ? "" : `?${query.join("&")}`;
  const resources = ["png", "jpeg"].map(
    (format) =>
      `<ResourceURL format="image/${format}" resourceType="tile" template="${escapeXml(`${template}.${format}${ending}`)}"/>`,
  );
  return `<Layer><ows:Title>${escapeXml(title)}</ows:Title><ows:Abstract>${escapeXml(description.slice(0, 2000))}</ows:Abstract><ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner><ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox><ows:Identifier>${escapeXml(id)}</ows:Identifier>${styleList.join("")}<Format>image/png</Format><Format>image/jpeg</Format>${INFO_TYPES.map((type) => `<InfoFormat>${type}</InfoFormat>`).join("")}${time}${places.map(writeDimension).join("")}${sets.join("")}${resources.join("")}</Layer>`;
}

function writeSet(set: TileMatrixSet): string {
  const crs =
    set.crs.id === "OGC:CRS84" ? "urn:ogc:def:crs:OGC:1.3:CRS84" : `urn:ogc:def:crs:EPSG::${set.crs.id.slice(5)}`;
  const corner = set.crs.isNorthFirst ? `${set.origin[1]} ${set.origin[0]}` : set.origin.join(" ");
  // A well-known scale set starts with its first scale; WorldCRS84Quad has no level for that of GoogleCRS84Quad.
  const known =
    set.wellKnownScaleSet === undefined || set.columns !== set.rows
      ? ""
      : `<WellKnownScaleSet>urn:ogc:def:wkss:OGC:1.0:${set.wellKnownScaleSet.split("/").at(-1)}</WellKnownScaleSet>`;
  const matrices = Array.from(
    { length: set.levels },
    (_, level) =>
      `<TileMatrix><ows:Identifier>${level}</ows:Identifier><ScaleDenominator>${scaleDenominatorOf(set, level)}</ScaleDenominator><TopLeftCorner>${corner}</TopLeftCorner><TileWidth>256</TileWidth><TileHeight>256</TileHeight><MatrixWidth>${set.columns * 2 ** level}</MatrixWidth><MatrixHeight>${set.rows * 2 ** level}</MatrixHeight></TileMatrix>`,
  );
  return `<TileMatrixSet><ows:Identifier>${set.id}</ows:Identifier><ows:SupportedCRS>${crs}</ows:SupportedCRS>${known}${matrices.join("")}</TileMatrixSet>`;
}
