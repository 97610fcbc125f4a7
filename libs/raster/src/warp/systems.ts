import { readFileSync } from "node:fs";

/** A system of an authority, from the table that `tools/make-systems.ts` makes of PROJ's database. */
export interface ListedSystem {
  /** For proj4js; follows PROJ to within a metre. */
  readonly definition: string;
  readonly isNorthFirst: boolean;
  /** Metres that positions are known to in WGS 84, as the database says; left out where it does not. */
  readonly accuracy?: number;
}

let table: ReadonlyMap<string, string> | undefined;

/** `EPSG:3035`, `ESRI:54009`; `undefined` for codes that are not known, or that proj4js would put elsewhere than PROJ does. */
export function findListedSystem(code: string): ListedSystem | undefined {
  const [, order, accuracy = "", definition = ""] = readTable().get(code)?.split("\t") ?? [];
  return order === undefined
    ? undefined
    : { definition, isNorthFirst: order === "n", ...(accuracy !== "" && { accuracy: Number(accuracy) }) };
}

/** Lines by their codes; read when one is first looked for. */
function readTable(): ReadonlyMap<string, string> {
  table ??= new Map(
    readFileSync(new URL("systems.tsv", import.meta.url), "utf8")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("\t")), line] as const),
  );
  return table;
}
