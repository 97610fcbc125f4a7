import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";

/** What the paths of every target read. */
const COMMON: readonly string[] = (
  "bidx expression nodata unscale sel rescale colormap colormap_name color_formula algorithm algorithm_params " +
  "resampling resampling_method reproject return_mask format buffer padding tile_format width height max_size " +
  "tilesize minzoom maxzoom coord_crs dst_crs p categorical c histogram_bins histogram_range"
).split(" ");
const SCENES = ["assets", "asset_bidx", "asset_expression", "asset_as_band", "style", "bbox"];
const MOSAICS = ["datetime", "ids", "pixel_selection", "sortby"];

/** Parameters by the kind of target. */
export const PARAMETERS = {
  cog: [...COMMON, "url", "variable"],
  stac: [...COMMON, ...SCENES, "url"],
  collections: [...COMMON, ...SCENES, ...MOSAICS],
  searches: [...COMMON, ...SCENES, ...MOSAICS],
} as const;

/** Parameters of today's tilers that are known here, with the values that ask for what is done anyway. */
const INERT: ReadonlyMap<string, readonly string[]> = new Map([
  ["reproject", ["nearest"]],
  ["buffer", ["0", "0.0"]],
  ["padding", ["0"]],
  ["algorithm_params", ["{}"]],
]);

/** A parameter has an effect or is refused: a picture that looks right and is not what the client asked for misleads. */
export function checkParameters(app: FastifyInstance, kind: keyof typeof PARAMETERS): void {
  const known = new Set<string>(PARAMETERS[kind]);
  app.addHook("preValidation", async ({ query }) => {
    for (const [name, value] of Object.entries(query as Readonly<Record<string, unknown>>)) {
      if (!known.has(name)) {
        throw new Problem(400, `There is no parameter "${name.slice(0, 50)}"; there are ${[...known].join(", ")}.`);
      }
      const inert = INERT.get(name);
      if (inert !== undefined && !(typeof value === "string" && inert.includes(value))) {
        throw new Problem(400, `${name} is not supported, but for ${inert.join(", ")}.`);
      }
    }
  });
}
