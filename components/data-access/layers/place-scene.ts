import type { Scene } from "@swath/raster";

import type { Layer, TimeRange } from "./layer.ts";

const MAX_TIME = 8.64e15;

interface Place {
  /** Coordinates in the layer's dimensions, by their names. */
  readonly position?: Readonly<Record<string, string>>;
  readonly times?: readonly TimeRange[];
}

/** The scene at a position in its dimensions: what is asked for, else the layer's presets; times are those of its file as well. */
export function placeScene(
  scene: Scene,
  { dimensions = [] }: Pick<Layer, "dimensions">,
  { position = {}, times }: Place,
): Scene {
  if (dimensions.length === 0) {
    return scene;
  }
  const [time] = times ?? [];
  const requested = time?.map((at) => new Date(Math.max(-MAX_TIME, Math.min(MAX_TIME, at))).toISOString()).join("/");
  const place = Object.fromEntries(
    dimensions.map(({ name, kind, preset }) => [
      name,
      position[name] ?? (kind === "time" ? requested : undefined) ?? preset,
    ]),
  );
  return {
    assets: Object.fromEntries(
      Object.entries(scene.assets).map(([key, asset]) => [key, { ...asset, position: place }]),
    ),
  };
}
