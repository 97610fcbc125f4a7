import sharp, { type Sharp } from "sharp";

/** How a map is rendered, and what is made of it where its format has 256 colours. */
export interface ImageType {
  readonly format: "png" | "jpeg" | "webp" | "tif";
  readonly contentType: string;
  readonly palette?: "png" | "gif";
}

/** Formats of GetMap; those of 256 colours have the nearest ones, without dithering. */
const TYPES: ReadonlyMap<string, ImageType> = new Map(
  Object.entries<ImageType>({
    "image/png": { format: "png", contentType: "image/png" },
    "image/png; mode=8bit": { format: "png", contentType: "image/png", palette: "png" },
    "image/jpeg": { format: "jpeg", contentType: "image/jpeg" },
    "image/webp": { format: "webp", contentType: "image/webp" },
    "image/gif": { format: "png", contentType: "image/gif", palette: "gif" },
    "image/tiff": { format: "tif", contentType: "image/tiff" },
  }),
);
/** Names of other servers. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["image/png8", "image/png; mode=8bit"],
  ["image/jpg", "image/jpeg"],
]);

export const IMAGE_TYPES: readonly string[] = [...TYPES.keys()];

/** `undefined` for formats that are none of `IMAGE_TYPES`; parameters of a type that mean nothing here are left aside. */
export function findImageType(text: string): ImageType | undefined {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/\s*;\s*/g, "; ");
  const known = ALIASES.get(name) ?? name;
  return TYPES.get(known) ?? TYPES.get(known.split(";")[0] ?? "");
}

export function encodeAs(image: Sharp, { format, palette }: ImageType): Sharp {
  return palette === "gif"
    ? image.gif({ dither: 0, effort: 3 })
    : palette === "png"
      ? image.png({ palette: true, colours: 256, dither: 0 })
      : format === "jpeg"
        ? image.jpeg({ quality: 85 })
        : format === "webp"
          ? image.webp({ effort: 2 })
          : image.png({ compressionLevel: 3 });
}

/** A rendered PNG in the 256 colours of its type. */
export const toPalette = (bytes: Uint8Array, type: ImageType): Promise<Buffer> =>
  encodeAs(sharp(bytes), type).toBuffer();
