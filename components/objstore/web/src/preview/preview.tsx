import { Paper, Text } from "@mantine/core";
import { ErrorNote, Loading, Part, lazyPart } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";

import type { ObjectInfo } from "../s3/object-info.ts";
import { sign } from "../s3/sign.ts";
import { ImagePreview } from "./image-preview.tsx";
import { kindOf } from "./kind-of.ts";
import { TextPreview } from "./text-preview.tsx";

// The libraries for rasters and maps are large; only who looks at one fetches them.
const GeoTiffPreview = lazyPart(() => import("./geotiff-preview.tsx"));
const JsonPreview = lazyPart(() => import("./json-preview.tsx"));

interface PreviewProps {
  readonly bucket: string;
  readonly objectKey: string;
  readonly version: string | undefined;
  readonly info: ObjectInfo;
}

/** What an object looks like, where that can be told without reading all of it. */
export function Preview({ bucket, objectKey: key, version, info }: PreviewProps) {
  const kind = kindOf(key, info.type);
  const url = useQuery({
    queryKey: ["object", bucket, key, version ?? "newest", "url", info.etag],
    queryFn: () =>
      sign({
        method: "GET",
        bucket,
        key,
        seconds: 3600,
        ...(version !== undefined && { query: { versionId: version } }),
      }),
    // The address is good for an hour.
    staleTime: 50 * 60_000,
    enabled: kind !== "none",
  });
  if (kind === "none" || info.size === 0) {
    return (
      <Paper withBorder p="xl" ta="center">
        <Text c="dimmed">{info.size === 0 ? "The object is empty." : "There is no preview of this kind of file."}</Text>
      </Paper>
    );
  }
  if (url.data === undefined) {
    return url.error ? <ErrorNote error={url.error} /> : <Loading what="Loading the preview" />;
  }
  const source = { url: url.data, size: info.size, etag: info.etag };
  const name = key.slice(key.lastIndexOf("/") + 1);
  return (
    <Part what="the preview">
      {kind === "image" && <ImagePreview url={url.data} name={name} />}
      {kind === "geotiff" && <GeoTiffPreview url={url.data} size={info.size} name={name} />}
      {kind === "json" && <JsonPreview {...source} />}
      {kind === "text" && <TextPreview {...source} />}
    </Part>
  );
}
