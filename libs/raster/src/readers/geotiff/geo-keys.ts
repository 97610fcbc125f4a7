import geokeysToProj4 from "geotiff-geokeys-to-proj4";

import { type Crs, findCrs, toCustomCrs } from "../../warp/crs.ts";

/** GeoKeys (GeoTIFF 1.1 annex B) by the names that the converter knows. */
const KEY_NAMES: Readonly<Record<number, string>> = {
  1024: "GTModelTypeGeoKey",
  1025: "GTRasterTypeGeoKey",
  1026: "GTCitationGeoKey",
  2048: "GeographicTypeGeoKey",
  2049: "GeogCitationGeoKey",
  2050: "GeogGeodeticDatumGeoKey",
  2051: "GeogPrimeMeridianGeoKey",
  2052: "GeogLinearUnitsGeoKey",
  2053: "GeogLinearUnitSizeGeoKey",
  2054: "GeogAngularUnitsGeoKey",
  2055: "GeogAngularUnitSizeGeoKey",
  2056: "GeogEllipsoidGeoKey",
  2057: "GeogSemiMajorAxisGeoKey",
  2058: "GeogSemiMinorAxisGeoKey",
  2059: "GeogInvFlatteningGeoKey",
  2060: "GeogAzimuthUnitsGeoKey",
  2061: "GeogPrimeMeridianLongGeoKey",
  2062: "GeogTOWGS84GeoKey",
  3072: "ProjectedCSTypeGeoKey",
  3073: "PCSCitationGeoKey",
  3074: "ProjectionGeoKey",
  3075: "ProjCoordTransGeoKey",
  3076: "ProjLinearUnitsGeoKey",
  3077: "ProjLinearUnitSizeGeoKey",
  3078: "ProjStdParallel1GeoKey",
  3079: "ProjStdParallel2GeoKey",
  3080: "ProjNatOriginLongGeoKey",
  3081: "ProjNatOriginLatGeoKey",
  3082: "ProjFalseEastingGeoKey",
  3083: "ProjFalseNorthingGeoKey",
  3084: "ProjFalseOriginLongGeoKey",
  3085: "ProjFalseOriginLatGeoKey",
  3086: "ProjFalseOriginEastingGeoKey",
  3087: "ProjFalseOriginNorthingGeoKey",
  3088: "ProjCenterLongGeoKey",
  3089: "ProjCenterLatGeoKey",
  3090: "ProjCenterEastingGeoKey",
  3091: "ProjCenterNorthingGeoKey",
  3092: "ProjScaleAtNatOriginGeoKey",
  3093: "ProjScaleAtCenterGeoKey",
  3094: "ProjAzimuthAngleGeoKey",
  3095: "ProjStraightVertPoleLongGeoKey",
  3096: "ProjRectifiedGridAngleGeoKey",
};
const USER_DEFINED = 32_767;
const DOUBLES = 34_736;
const ASCII = 34_737;
const MODEL_GEOGRAPHIC = 2;

export interface GeoKeys {
  readonly crs?: Crs;
  /** Coordinates are of pixel centres (GTRasterTypeGeoKey 2). */
  readonly isPoint: boolean;
}

/** Reads the key directory: a header of four numbers, then four a key (id, place, count, value or offset). */
export function readGeoKeys(directory: readonly number[], doubles: readonly number[], ascii: string): GeoKeys {
  const keys: Record<string, number | string> = {};
  for (let at = 4; at + 3 < directory.length; at += 4) {
    const [id = 0, place = 0, count = 0, value = 0] = directory.slice(at, at + 4);
    const name = KEY_NAMES[id];
    if (name === undefined) {
      continue;
    }
    if (place === 0) {
      keys[name] = value;
    } else if (place === DOUBLES && doubles[value] !== undefined) {
      keys[name] = doubles[value];
    } else if (place === ASCII) {
      keys[name] = ascii.slice(value, value + count).replace(/\|$/, "");
    }
  }
  const crs = toCrs(keys);
  return { isPoint: keys["GTRasterTypeGeoKey"] === 2, ...(crs !== undefined && { crs }) };
}

function toCrs(keys: Readonly<Record<string, number | string>>): Crs | undefined {
  const code = Number(
    keys["GTModelTypeGeoKey"] === MODEL_GEOGRAPHIC
      ? keys["GeographicTypeGeoKey"]
      : (keys["ProjectedCSTypeGeoKey"] ?? keys["GeographicTypeGeoKey"]),
  );
  if (code > 0 && code !== USER_DEFINED) {
    return findCrs(`EPSG:${code}`);
  }
  if (keys["GTModelTypeGeoKey"] === undefined && keys["ProjectedCSTypeGeoKey"] === undefined) {
    return undefined;
  }
  try {
    const { proj4 } = geokeysToProj4.toProj4(keys as never);
    return toCustomCrs(proj4.replace(/\+axis=\w+/, ""));
  } catch {
    return undefined;
  }
}
