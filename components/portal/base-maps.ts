/** A base map of another host. */
export interface BaseMap {
  readonly id: string;
  readonly title: string;
  readonly url: string;
  readonly attribution: string;
}

/**
 * Reads BASE_MAPS: `Title=https://host/{z}/{x}/{y}.png`, one a line.
 * @throws {Error} naming the line that is none
 */
export function parseBaseMaps(text: string): readonly BaseMap[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => {
      const [, title = "", url = ""] = /^([^=]{1,60})=(.+)$/.exec(line) ?? [];
      const isTiles = ["{z}", "{x}", "{y}"].every((part) => url.includes(part));
      if (!isTiles || !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
        throw new Error(
          `base_maps: ${JSON.stringify(line)} is no base map; each line is Title=https://host/{z}/{x}/{y}.png`,
        );
      }
      return { id: `configured ${title.trim()}`, title: title.trim(), url, attribution: new URL(url).host };
    });
}

/** Origins that pictures of the pages may come from. */
export const originsOf = (maps: readonly BaseMap[]): readonly string[] => [
  ...new Set(maps.map(({ url }) => new URL(url).origin)),
];
