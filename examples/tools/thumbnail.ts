import sharp from "sharp";

import type { Grid } from "./grid.ts";

export type Colour = readonly [red: number, green: number, blue: number];

const LONGEST = 512;

/** Writes a PNG of at most 512 pixels; pixels without a colour are transparent. */
export async function writeThumbnail(
  path: string,
  { width, height }: Grid,
  colourOf: (index: number) => Colour | undefined,
): Promise<void> {
  const pixels = new Uint8Array(width * height * 4);
  for (let index = 0; index < width * height; index += 1) {
    const colour = colourOf(index);
    if (colour !== undefined) {
      pixels.set([...colour, 255], index * 4);
    }
  }
  await sharp(pixels, { raw: { width, height, channels: 4 } })
    .resize({ width: LONGEST, height: LONGEST, fit: "inside", withoutEnlargement: true })
    .png()
    .toFile(path);
}

/** A colour between those of the stops around a value. */
export function ramp(stops: readonly (readonly [value: number, colour: Colour])[], value: number): Colour {
  const above = stops.findIndex(([at]) => value <= at);
  const [lower, upper] = [
    stops[above === -1 ? stops.length - 1 : Math.max(above - 1, 0)],
    stops[above === -1 ? stops.length - 1 : above],
  ];
  if (lower === undefined || upper === undefined || lower === upper) {
    return (upper ?? lower)?.[1] ?? [0, 0, 0];
  }
  const share = (value - lower[0]) / (upper[0] - lower[0]);
  const mix = (channel: 0 | 1 | 2) => Math.round(lower[1][channel] + share * (upper[1][channel] - lower[1][channel]));
  return [mix(0), mix(1), mix(2)];
}
