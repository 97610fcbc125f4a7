import geokeysToProj4 from "geotiff-geokeys-to-proj4";
import proj4 from "proj4";
import proj4List from "proj4-list";

import { invalidRequest } from "../errors.ts";

/** A coordinate reference system. Coordinates are always kept x (east) before y (north), whatever the authority's order. */
export interface Crs {
  /** `EPSG:3035`, `OGC:CRS84`, or a PROJ definition for systems without a code. */
  readonly id: string;
  readonly proj4: string;
  /** Coordinates are degrees of longitude and latitude. */
  readonly isGeographic: boolean;
  /** The authority puts north before east: WMS 1.3.0, WCS 2.0 and WMTS follow it. */
  readonly isNorthFirst: boolean;
  /** Metres (or degrees) of one unit. */
  readonly unit: number;
}

const MAX_CACHED = 512;
const cache = new Map<string, Crs | undefined>();

/**
 * The system that an identifier names: `EPSG:n`, `OGC:CRS84`, `CRS:84`, their URNs and URIs; or a PROJ definition.
 * @throws {RasterError} `invalid-request` for systems that nobody knows
 */
export function parseCrs(text: string): Crs {
  const crs = findCrs(text);
  if (crs === undefined) {
    throw invalidRequest(
      `The coordinate reference system "${text.slice(0, 100)}" is not known; use one such as EPSG:3857.`,
    );
  }
  return crs;
}

export function findCrs(text: string): Crs | undefined {
  const id = toId(text);
  if (id === undefined) {
    return undefined;
  }
  if (!cache.has(id)) {
    if (cache.size >= MAX_CACHED) {
      cache.clear();
    }
    cache.set(id, id.startsWith("+") ? tryCustomCrs(id) : createCrs(id));
  }
  return cache.get(id);
}

/** A system that has no code, from its PROJ definition. */
export function toCustomCrs(definition: string): Crs {
  const text = definition.trim().replace(/\s+/g, " ");
  const { projName, to_meter: toMeter } = proj4.Proj(text) as unknown as { projName: string; to_meter?: number };
  const isGeographic = projName === "longlat" || projName === "identity";
  return { id: text, proj4: text, isGeographic, isNorthFirst: false, unit: isGeographic ? 1 : (toMeter ?? 1) };
}

function tryCustomCrs(definition: string): Crs | undefined {
  try {
    return toCustomCrs(definition);
  } catch {
    return undefined;
  }
}

function toId(text: string): string | undefined {
  const trimmed = text.trim().replace(/^\[|\]$/g, "");
  if (trimmed.startsWith("+proj=") && trimmed.length <= 1000) {
    return trimmed;
  }
  const code = /(?:^|[:/])epsg(?::+|\/)(?:[\d.]*(?::|\/))?(\d{4,6})$/i.exec(trimmed)?.[1];
  if (code !== undefined) {
    // The code that was used for Web Mercator before it had one.
    return code === "900913" ? "EPSG:3857" : `EPSG:${code}`;
  }
  return /(?:^|[:/])(?:crs|ogc)(?::|\/)(?:[\d.]*(?::|\/))?(?:crs)?:?84h?$/i.test(trimmed) ? "OGC:CRS84" : undefined;
}

function createCrs(id: string): Crs | undefined {
  if (id === "OGC:CRS84") {
    return { id, proj4: "+proj=longlat +datum=WGS84 +no_defs", isGeographic: true, isNorthFirst: false, unit: 1 };
  }
  const code = Number(id.slice("EPSG:".length));
  const converted = convertCode(code);
  // The list knows shifts between datums, the converter more systems and the order of axes.
  const listed = (proj4List as unknown as Readonly<Record<string, readonly [string, string]>>)[id]?.[1];
  // Grids of datum shifts are not at hand; without them such a system is some metres off.
  const definition = (listed ?? converted?.definition)?.replace(/\+nadgrids=(?!@null)\S+/, "");
  if (definition === undefined || converted?.isReversed === true) {
    return undefined;
  }
  const custom = tryCustomCrs(definition);
  return custom && { ...custom, id, isNorthFirst: converted?.isNorthFirst ?? custom.isGeographic };
}

function convertCode(code: number): { definition: string; isNorthFirst: boolean; isReversed: boolean } | undefined {
  for (const keys of [
    { GTModelTypeGeoKey: 1, ProjectedCSTypeGeoKey: code },
    { GTModelTypeGeoKey: 2, GeographicTypeGeoKey: code },
  ]) {
    try {
      const { proj4: definition, errors } = geokeysToProj4.toProj4(keys as never) as { proj4: string; errors: object };
      if (definition.includes("+proj=") && Object.keys(errors).length === 0) {
        const axes = /\+axis=(\w\w)/.exec(definition)?.[1] ?? "en";
        return {
          definition: definition.replace(/\+axis=\w+/, "").trim(),
          isNorthFirst: axes.startsWith("n"),
          // Coordinates that grow to the south or west: no raster format here can say so.
          isReversed: /[sw]/.test(axes),
        };
      }
    } catch {
      // Not a code of this kind.
    }
  }
  return undefined;
}
