/** A base map of another host. */
export interface BaseMap {
  readonly id: string;
  readonly title: string;
  /** With `{z}`, `{x}`, and `{y}` or, counted from the south, `{-y}`. */
  readonly url: string;
  readonly attribution: string;
}

/** What an entry must be, as it completes "allowed: …". */
export const BASE_MAP_FORM =
  "Title=https://host/{z}/{x}/{y}.png, or a WMTS in Web Mercator with {TileMatrix}, {TileRow} and {TileCol}; separated by | or line breaks";

/** Parts of WMTS addresses (07-057r7, 10.2) that are what XYZ calls otherwise. */
const WMTS_PARTS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({ tilematrix: "{z}", tilerow: "{y}", tilecol: "{x}" }),
);
const NEEDED = [["{z}"], ["{x}"], ["{y}", "{-y}"]] as const;

/**
 * Reads base maps, as the operator configures them: `Title=address`, one a line or separated by `|`. An address is that of XYZ tiles or,
 * in a tile matrix set of Web Mercator whose matrices are numbered, of a WMTS, as a path or with parameters.
 * @throws {Error} naming the entry that is none
 */
export function parseBaseMaps(text: string): readonly BaseMap[] {
  const maps = text
    .split(/[\n|]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "")
    .map(parseEntry);
  const twice = maps.find(({ id }, at) => maps.findIndex((each) => each.id === id) !== at);
  if (twice !== undefined) {
    throw new Error(`base maps: there are two with the title ${JSON.stringify(twice.title)}`);
  }
  return maps;
}

function parseEntry(entry: string): BaseMap {
  const [, title = "", address = ""] = /^([^=]{1,60})=(\S+)$/.exec(entry.replace(/\s*=\s*/, "=")) ?? [];
  const url = address.replaceAll(/\{(\w+)\}/g, (part, name: string) => WMTS_PARTS.get(name.toLowerCase()) ?? part);
  const other = [...url.matchAll(/\{[^}]*\}/g)].find(([part]) => !NEEDED.flat().some((each) => each === part));
  const problem = !URL.canParse(url)
    ? "has no address"
    : !/^https?:$/.test(new URL(url).protocol)
      ? "has an address that is not of http or https"
      : new URL(url).username !== "" || new URL(url).password !== ""
        ? "has a password in its address"
        : other !== undefined
          ? `has ${other[0]} in its address, which is to be filled in`
          : NEEDED.every((parts) => parts.some((part) => url.includes(part)))
            ? undefined
            : "does not say where the tile goes in its address";
  if (problem !== undefined) {
    throw new Error(`base maps: ${JSON.stringify(entry)} ${problem}; each is ${BASE_MAP_FORM}`);
  }
  return { id: `configured ${title}`, title, url, attribution: new URL(url).host };
}

/** Origins that pictures of the pages may come from. */
export const originsOf = (maps: readonly BaseMap[]): readonly string[] => [
  ...new Set(maps.map(({ url }) => new URL(url).origin)),
];
