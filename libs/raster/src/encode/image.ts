import sharp from "sharp";

import { type Memory, OWN_MEMORY } from "../memory.ts";
import type { Image } from "../render/render-image.ts";
import { encodePng } from "./png.ts";

export const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export const CONTENT_TYPES: Readonly<Record<ImageFormat, string>> = {
  png: "image/png",
  jpeg: "image/jpeg",
  webp: "image/webp",
};

export interface EncodeOptions {
  /** 1 to 100, for JPEG and WebP. */
  readonly quality?: number;
  /** Colour below transparent pixels; left out, PNG and WebP stay transparent and JPEG gets white. */
  readonly background?: readonly [red: number, green: number, blue: number];
  /** What is calculated on the way is kept there; the result is not. */
  readonly memory?: Memory;
}

export async function encodeImage(
  provided: Image,
  format: ImageFormat,
  { quality = 85, background, memory = OWN_MEMORY }: EncodeOptions = {},
): Promise<Uint8Array> {
  if (format === "png" && background === undefined) {
    return encodePng(provided, memory);
  }
  const image = provided.palette === undefined ? provided : toColors(provided, provided.palette, memory);
  const { width, height, channels, data } = image;
  const pipeline = sharp(data, { raw: { width, height, channels } });
  const isTransparent = channels === 2 || channels === 4;
  if (isTransparent && (background !== undefined || format === "jpeg")) {
    const [r, g, b] = background ?? [255, 255, 255];
    pipeline.flatten({ background: { r, g, b } });
  }
  if (channels <= 2 && !(isTransparent && background !== undefined)) {
    pipeline.toColourspace("b-w");
  }
  switch (format) {
    case "png": {
      const { data: flat, info } = await pipeline.raw().toBuffer({ resolveWithObject: true });
      return encodePng({ width, height, channels: info.channels, data: flat }, memory);
    }
    case "jpeg":
      return pipeline.jpeg({ quality, mozjpeg: false }).toBuffer();
    case "webp":
      return pipeline.webp({ quality, effort: 2 }).toBuffer();
  }
}

function toColors({ width, height, data, isEmpty }: Image, palette: Uint8Array, memory: Memory): Image {
  const colors = memory.take("uint8", data.length * 4);
  for (let at = 0; at < data.length; at += 1) {
    const entry = data[at]! * 4;
    colors[at * 4] = palette[entry]!;
    colors[at * 4 + 1] = palette[entry + 1]!;
    colors[at * 4 + 2] = palette[entry + 2]!;
    colors[at * 4 + 3] = palette[entry + 3]!;
  }
  return { width, height, channels: 4, data: colors, isEmpty };
}
