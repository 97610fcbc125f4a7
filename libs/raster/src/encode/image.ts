import sharp from "sharp";

import type { Image } from "../render/render-image.ts";

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
}

/** More costs several times the time for some percent of the size. */
const PNG_LEVEL = 3;

export async function encodeImage(
  image: Image,
  format: ImageFormat,
  { quality = 85, background }: EncodeOptions = {},
): Promise<Uint8Array> {
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
    case "png":
      return pipeline.png({ compressionLevel: PNG_LEVEL, adaptiveFiltering: false, force: true }).toBuffer();
    case "jpeg":
      return pipeline.jpeg({ quality, mozjpeg: false }).toBuffer();
    case "webp":
      return pipeline.webp({ quality, effort: 2 }).toBuffer();
  }
}
