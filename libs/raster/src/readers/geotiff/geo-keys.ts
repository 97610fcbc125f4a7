import { type Crs, findCrs } from "../../warp/crs.ts";
import { USER_DEFINED, findUserDefinedCrs } from "./user-defined-crs.ts";

const MODEL = 1024;
const RASTER_TYPE = 1025;
const GEOGRAPHIC = 2048;
const PROJECTED = 3072;
/** Citations of the file, its projected and its geographic system. */
const CITATIONS = [3073, 1026, 2049];
const DOUBLES = 34_736;
const ASCII = 34_737;
const MODEL_GEOGRAPHIC = 2;
const PIXEL_IS_POINT = 2;
const MAX_NAME = 100;
/** Greater codes are those of ESRI. */
const MAX_EPSG = 32_767;

export interface GeoKeys {
  readonly crs?: Crs;
  /** What the file calls a system that is not known here. */
  readonly unknownCrs?: string;
  /** Coordinates are of pixel centres. */
  readonly isPoint: boolean;
}

/** Reads the key directory: a header of four numbers, then four a key (id, place, count, value or offset). */
export function readGeoKeys(directory: readonly number[], doubles: readonly number[], ascii: string): GeoKeys {
  const keys = new Map<number, number | readonly number[] | string>();
  for (let at = 4; at + 3 < directory.length; at += 4) {
    const [id = 0, place = 0, count = 0, value = 0] = directory.slice(at, at + 4);
    if (place === 0) {
      keys.set(id, value);
    } else if (place === DOUBLES && doubles[value] !== undefined) {
      keys.set(id, count > 1 ? doubles.slice(value, value + count) : doubles[value]);
    } else if (place === ASCII) {
      keys.set(id, ascii.slice(value, value + count).replace(/\|$/, ""));
    }
  }
  const isPoint = keys.get(RASTER_TYPE) === PIXEL_IS_POINT;
  const model = keys.get(MODEL);
  const code = Number(
    model === MODEL_GEOGRAPHIC ? keys.get(GEOGRAPHIC) : (keys.get(PROJECTED) ?? keys.get(GEOGRAPHIC)),
  );
  if (Number.isNaN(code) && model === undefined) {
    return { isPoint };
  }
  const isCode = code > 0 && code !== USER_DEFINED;
  // The code of degrees says nothing of where the coordinates of a projection are.
  const isWhole = model === undefined || model === MODEL_GEOGRAPHIC || keys.has(PROJECTED);
  const crs =
    isCode && isWhole
      ? (findCrs(`EPSG:${code}`) ?? (code > MAX_EPSG ? findCrs(`ESRI:${code}`) : undefined))
      : findUserDefinedCrs(keys);
  if (crs !== undefined) {
    return { isPoint, crs };
  }
  const name = CITATIONS.map((id) => keys.get(id)).find((text) => typeof text === "string" && text !== "");
  return {
    isPoint,
    unknownCrs: isCode && isWhole ? `EPSG:${code}` : String(name ?? "a system without a code").slice(0, MAX_NAME),
  };
}
