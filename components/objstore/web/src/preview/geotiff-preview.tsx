import { Button, Group, Paper, Stack, Text } from "@mantine/core";
import { Awaited, ErrorNote, Loading, formatBytes, formatCount, formatPlural } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { drawRaster } from "./draw-raster.ts";
import { FootprintMap } from "./footprint-map.tsx";
import { type Raster, type RasterInfo, readRaster } from "./read-geotiff.ts";
import { toFootprint } from "./to-footprint.ts";

interface GeoTiffPreviewProps {
  readonly url: string;
  readonly size: number;
  readonly name: string;
}

/** More than this is read only when asked for: a raster without overviews is read whole. */
const FREE_BYTES = 64 * 2 ** 20;

/** A GeoTIFF as a picture, where it lies on a map, and what its head says. Only the parts that this needs are read. */
// oxlint-disable-next-line import/no-default-export -- React.lazy takes nothing else
export default function GeoTiffPreview({ url, name }: GeoTiffPreviewProps) {
  const raster = useQuery({
    queryKey: ["preview", url, "raster"],
    queryFn: () => readRaster(url),
    staleTime: Number.POSITIVE_INFINITY,
    retry: 1,
  });
  return (
    <Awaited query={raster} what="Reading the raster">
      {(data) => (
        <Stack>
          <Picture url={url} raster={data} name={name} />
          <Place info={data.info} name={name} />
        </Stack>
      )}
    </Awaited>
  );
}

interface PictureProps {
  readonly url: string;
  readonly raster: Raster;
  readonly name: string;
}

function Picture({ url, raster: { info, image, bytes }, name }: PictureProps) {
  const [isWanted, setWanted] = useState(bytes <= FREE_BYTES);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawn = useQuery({
    queryKey: ["preview", url, "picture"],
    queryFn: () => drawRaster({ image, noData: info.noData }),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const picture = drawn.data?.picture;
  useEffect(() => {
    if (picture !== undefined) {
      canvas.current?.getContext("2d")?.putImageData(picture, 0, 0);
    }
  }, [picture]);
  const [stretch] = drawn.data?.stretches ?? [];
  return (
    <Paper withBorder p="sm">
      {!isWanted && (
        <Stack align="center" p="lg">
          <Text size="sm">This raster has no overviews: for a picture up to {formatBytes(bytes)} have to be read.</Text>
          <Button variant="default" onClick={() => setWanted(true)}>
            Load anyway
          </Button>
        </Stack>
      )}
      {isWanted && drawn.error && <ErrorNote error={drawn.error} title="The raster cannot be drawn" />}
      {isWanted && picture === undefined && !drawn.error && <Loading what="Drawing the raster" />}
      {picture !== undefined && (
        <canvas
          ref={canvas}
          width={picture.width}
          height={picture.height}
          role="img"
          aria-label={`Preview of ${name}`}
          style={{ maxWidth: "100%", maxHeight: "60vh", display: "block", margin: "0 auto" }}
        />
      )}
      <Group gap="md" mt="sm">
        <Text size="xs" c="dimmed">
          {describe(info)}
          {stretch !== undefined &&
            info.bands < 3 &&
            ` · black ${toShort(stretch.low)}, white ${toShort(stretch.high)}`}
        </Text>
      </Group>
    </Paper>
  );
}

function Place({ info, name }: { readonly info: RasterInfo; readonly name: string }) {
  const place = useQuery({
    queryKey: ["preview", "place", info.epsg, info.box],
    queryFn: async () => (await toFootprint(info, name)) ?? null,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (place.error) {
    return <ErrorNote error={place.error} title="No map" />;
  }
  return place.data ? <FootprintMap footprints={[place.data]} /> : null;
}

function describe({ width, height, bands, numbers, epsg, pixelSize, noData, isTiled, overviews }: RasterInfo): string {
  return [
    `${formatCount(width)} × ${formatCount(height)} pixels`,
    `${formatPlural(bands, "band")} of ${numbers}`,
    ...(epsg === undefined ? [] : [`EPSG:${epsg}`]),
    ...(pixelSize === undefined
      ? []
      : [`pixel ${toShort(Math.abs(pixelSize[0]))} × ${toShort(Math.abs(pixelSize[1]))}`]),
    ...(noData === undefined ? [] : [`no data ${noData}`]),
    isTiled ? "tiled" : "in strips",
    overviews === 0 ? "no overviews" : formatPlural(overviews, "overview"),
  ].join(" · ");
}

function toShort(value: number): string {
  return String(Number(value.toPrecision(4)));
}
