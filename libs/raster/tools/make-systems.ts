// Makes the table of coordinate reference systems from what `list-systems.py` lists: of each system the definition that proj4js follows
// to within a metre of PROJ, at every point that is listed. Systems without one are left out, and so refused.
//
//   tools/node libs/raster/tools/make-systems.ts <proj.db of the same PROJ> <lists>
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

import proj4 from "proj4";

/** A better definition is not looked for below this, in metres. */
const GOOD_METRES = 0.1;
/** What differs by more is refused. */
const MAX_METRES = 1;
const METRES_OF_DEGREE = 111_320;
/** Web Mercator takes degrees of an ellipsoid for those of a sphere. */
const WEB_MERCATOR = "+proj=merc +a=6378137 +b=6378137 +lat_ts=0 +lon_0=0 +x_0=0 +y_0=0 +k=1 +nadgrids=@null";
const WGS84 = "+proj=longlat +datum=WGS84 +no_defs";

interface Listed {
  readonly code: string;
  readonly why?: string;
  readonly north: boolean;
  readonly definition: string;
  readonly geographic: boolean;
  readonly shifts: readonly (readonly number[])[];
  /** Metres; below 0 when not known. */
  readonly accuracy: number;
  readonly points: readonly (readonly [longitude: number, latitude: number, x: number, y: number])[];
}

const library = join(import.meta.dirname, "..");
const [databasePath = "", ...lists] = process.argv.slice(2);
const database = new DatabaseSync(databasePath, { readOnly: true });
const operations = listOperations();
const listed = lists
  .flatMap((path) => readFileSync(path, "utf8").split("\n"))
  .filter((line) => line !== "")
  .map((line) => JSON.parse(line.replaceAll("NaN", "null")) as Listed)
  .map((system) => ({ ...system, definition: withFlattening(system.definition ?? "") }));
const [rows, points, refused]: [string[], string[], string[]] = [[], [], []];
const unique = [...new Map(listed.map((system) => [system.code, system])).values()];
for (const system of unique.toSorted((a, b) => a.code.localeCompare(b.code, "en", { numeric: true }))) {
  // Two systems of EPSG have a scale of a millionth: every place is one point.
  const isPoint = Number(/\+k=(\S+)/.exec(system.definition ?? "")?.[1] ?? 1) < 0.5;
  // The database places some systems nowhere.
  const isPlaced = system.points?.every(([, latitude]) => Math.abs(latitude) <= 90) ?? false;
  const best = system.why === undefined && isPlaced && !isPoint ? chooseDefinition(system) : undefined;
  if (best === undefined || best.metres > MAX_METRES) {
    refused.push(`${system.code}: ${system.why ?? `${best?.metres.toFixed(1)} m`}`);
    continue;
  }
  const accuracy = system.accuracy < 0 ? "" : String(Math.max(system.accuracy, best.metres > GOOD_METRES ? 1 : 0));
  rows.push([system.code, system.north ? "n" : "e", accuracy, best.definition].join("\t"));
  for (const [longitude, latitude, x, y] of [system.points[0]!, system.points.at(-1)!]) {
    const digits = system.geographic ? 8 : 3 + Math.max(0, Math.ceil(Math.log10(unitOf(system.definition))));
    points.push(
      [system.code, longitude.toFixed(8), latitude.toFixed(8), x.toFixed(digits), y.toFixed(digits)].join("\t"),
    );
  }
}
writeFileSync(join(library, "src/warp/systems.tsv"), `${rows.join("\n")}\n`);
writeFileSync(join(library, "test/system-points.tsv"), `${points.join("\n")}\n`);
process.stdout.write(`${refused.join("\n")}\n`);
process.stdout.write(`${rows.length} systems, ${refused.length} refused\n`);

function chooseDefinition(system: Listed): { readonly definition: string; readonly metres: number } | undefined {
  let best: { readonly definition: string; readonly metres: number } | undefined;
  // A shift of the database is right outside of the listed points as well; fitted ones come last. Without one, degrees are taken as they
  // are, which is what PROJ does where it knows no transformation.
  const shifts = [[0, 0, 0], ...(operations.get(baseOf(system)) ?? []), ...system.shifts].filter((shift) =>
    shift.every((value) => Number.isFinite(value)),
  );
  const candidates = [
    ...shifts.map(
      (shift) => `${system.definition} +towgs84=${shift.map((value) => Number(value.toFixed(7))).join(",")}`,
    ),
    system.definition,
    ...(system.definition.startsWith("+proj=merc") ? [WEB_MERCATOR] : []),
  ];
  for (const definition of candidates) {
    const metres = differenceOf(definition, system);
    if (best === undefined || metres < best.metres) {
      best = { definition, metres };
    }
    if (metres < GOOD_METRES) {
      break;
    }
  }
  return best;
}

/** Some projections of proj4js look at the flattening alone. */
function withFlattening(definition: string): string {
  return definition.replace(/\+a=(\S+) \+b=(\S+)/, (whole, a: string, b: string) =>
    a === b ? whole : `+a=${a} +rf=${Number((Number(a) / (Number(a) - Number(b))).toFixed(10))}`,
  );
}

/** The system of degrees below a projected one. */
function baseOf({ code, geographic }: Listed): string {
  const [authority = "", number = ""] = code.split(":");
  const row = geographic
    ? undefined
    : database
        .prepare(
          "select geodetic_crs_auth_name a, geodetic_crs_code c from projected_crs where auth_name = ? and code = ?",
        )
        .get(authority, number);
  return row === undefined ? code : `${String(row["a"])}:${String(row["c"])}`;
}

/** Helmert transformations to WGS 84 by the system that they begin at, as position vectors: what `+towgs84` holds. */
function listOperations(): ReadonlyMap<string, readonly (readonly number[])[]> {
  const [seconds, millionths] = ["9104", "9202"];
  const found = new Map<string, number[][]>();
  for (const row of database
    .prepare(
      `select * from helmert_transformation where target_crs_auth_name = 'EPSG' and target_crs_code in ('4326', '4978', '4979')
       and px is null and rate_tx is null order by deprecated, accuracy`,
    )
    .iterate()) {
    const isTurned = row["rx"] !== null;
    if (isTurned && (row["rotation_uom_code"] !== seconds || row["scale_difference_uom_code"] !== millionths)) {
      continue;
    }
    const sign = String(row["method_name"]).includes("Coordinate Frame") ? -1 : 1;
    const numbers = ["tx", "ty", "tz"].map((name) => Number(row[name]));
    if (isTurned) {
      numbers.push(...["rx", "ry", "rz"].map((name) => sign * Number(row[name])), Number(row["scale_difference"]));
    }
    const source = `${String(row["source_crs_auth_name"])}:${String(row["source_crs_code"])}`;
    found.set(source, [...(found.get(source) ?? []), numbers]);
  }
  return found;
}

/** Metres of one unit of a projected system's coordinates. */
function unitOf(definition: string): number {
  return Number(/\+to_meter=(\S+)/.exec(definition)?.[1] ?? 1);
}

/** Greatest distance to where PROJ has the points, there and back. */
function differenceOf(definition: string, { points: all, geographic }: Listed): number {
  const unit = geographic ? METRES_OF_DEGREE : unitOf(definition);
  let most = 0;
  try {
    const converter = proj4(WGS84, definition);
    for (const [longitude, latitude, x, y] of all) {
      const [ownX, ownY] = converter.forward([longitude, latitude]) as [number, number];
      const [backX, backY] = converter.inverse([x, y]) as [number, number];
      const across = Math.cos((latitude * Math.PI) / 180);
      most = Math.max(
        most,
        Math.hypot(toShort(ownX - x, geographic) * (geographic ? across : 1), ownY - y) * unit,
        Math.hypot(toShort(backX - longitude, true) * across, backY - latitude) * METRES_OF_DEGREE,
      );
      if (Number.isNaN(ownX + ownY + backX + backY)) {
        return Infinity;
      }
    }
  } catch {
    return Infinity;
  }
  return most;
}

/** Longitudes that differ by a turn are the same. */
function toShort(difference: number, isLongitude: boolean): number {
  return isLongitude ? difference - 360 * Math.round(difference / 360) : difference;
}
