import { LRUCache } from "lru-cache";
import proj4 from "proj4";

import { invalidRequest } from "../errors.ts";
import { toKnownDefinition } from "./check-definition.ts";
import { findListedSystem } from "./systems.ts";

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
  /** Metres that positions are known to in WGS 84, without grids of datum shifts; left out where that is not known. */
  readonly accuracy?: number;
  /** Of one raster that does not say in which system it is: x is the column and y the negative row of its pixels, or its own coordinates. */
  readonly local?: "pixels" | "coordinates";
}

const MAX_CACHED = 512;
/** `undefined` is no value of it: names of no system are kept in an object as well. */
const cache = new LRUCache<string, { readonly crs: Crs | undefined }>({ max: MAX_CACHED });

/**
 * The system that an identifier names: `EPSG:n`, `ESRI:n`, `OGC:CRS84`, `CRS:84`, their URNs and URIs; or a PROJ definition.
 * @throws {RasterError} `invalid-request` for systems that are not known, or that points cannot be put into exactly
 */
export function parseCrs(text: string): Crs {
  const crs = findCrs(text);
  if (crs === undefined) {
    throw invalidRequest(
      `The coordinate reference system "${text.slice(0, 100)}" is not supported: use OGC:CRS84, the code of an EPSG or ESRI system ` +
        "such as EPSG:3857, or a PROJ definition of a common projection without grids.",
    );
  }
  return crs;
}

export function findCrs(text: string): Crs | undefined {
  const id = toId(text);
  if (id === undefined) {
    return undefined;
  }
  let known = cache.get(id);
  if (known === undefined) {
    known = { crs: id.startsWith("+") ? findCustomCrs(id) : createCrs(id) };
    cache.set(id, known);
  }
  return known.crs;
}

/** A system that has no code, from its PROJ definition; `undefined` where that is not one which is followed exactly. */
export function findCustomCrs(text: string): Crs | undefined {
  const definition = toKnownDefinition(text);
  return definition === undefined ? undefined : tryCreate(text.trim().replace(/\s+/g, " "), definition);
}

function tryCreate(
  id: string,
  definition: string,
): (Omit<Crs, "isNorthFirst"> & { readonly isNorthFirst: false }) | undefined {
  try {
    const { projName, to_meter: toMeter } = proj4.Proj(definition) as unknown as {
      projName: string;
      to_meter?: number;
    };
    const isGeographic = projName === "longlat";
    return { id, proj4: definition, isGeographic, isNorthFirst: false, unit: isGeographic ? 1 : (toMeter ?? 1) };
  } catch {
    return undefined;
  }
}

function toId(text: string): string | undefined {
  const trimmed = text.trim().replace(/^\[|\]$/g, "");
  if (trimmed.startsWith("+proj=") && trimmed.length <= 1000) {
    return trimmed;
  }
  const [, authority, code] = /(?:^|[:/])(epsg|esri)(?::+|\/)(?:[\d.]*(?::|\/))?(\d{4,6})$/i.exec(trimmed) ?? [];
  if (authority !== undefined && code !== undefined) {
    // The code that was used for Web Mercator before it had one.
    return code === "900913" ? "EPSG:3857" : `${authority.toUpperCase()}:${code}`;
  }
  return /(?:^|[:/])(?:crs|ogc)(?::|\/)(?:[\d.]*(?::|\/))?(?:crs)?:?84h?$/i.test(trimmed) ? "OGC:CRS84" : undefined;
}

function createCrs(id: string): Crs | undefined {
  if (id === "OGC:CRS84") {
    const definition = "+proj=longlat +datum=WGS84 +no_defs";
    return { id, proj4: definition, isGeographic: true, isNorthFirst: false, unit: 1, accuracy: 0 };
  }
  const listed = findListedSystem(id);
  const created = listed && tryCreate(id, listed.definition);
  return (
    created && {
      ...created,
      isNorthFirst: listed.isNorthFirst,
      ...(listed.accuracy !== undefined && { accuracy: listed.accuracy }),
    }
  );
}
