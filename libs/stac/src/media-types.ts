/** Media types of STAC documents and of the files that scenes are made of. */
export const MEDIA_TYPES = {
  json: "application/json",
  item: "application/geo+json",
  cog: "image/tiff; application=geotiff; profile=cloud-optimized",
  geotiff: "image/tiff; application=geotiff",
} as const;

/** JSON schema of the extension that `file:size` and `file:checksum` come from. */
export const FILE_EXTENSION = "https://stac-extensions.github.io/file/v2.1.0/schema.json";
