import { Stack, Text } from "@mantine/core";
import { type Box, GeoTiffLayer, MapView, canDrawRasters, toDegrees } from "@swath/ui/map";
import { useState } from "react";

import { DrawErrorNote } from "../../../processing/results/draw-error-note.tsx";
import { RasterPanel } from "../../../processing/results/raster-panel.tsx";
import type { RasterResponse } from "../../../processing/results/raster-messages.ts";
import { readRaster } from "../../../processing/results/read-raster.ts";
import { useRasterLook } from "../../../processing/results/use-raster-look.ts";

/** A raster of a workspace on a map, with the spread of its values; only the parts in sight are read. */
export function RasterPreview({ url, name }: { readonly url: string; readonly name: string }) {
  const [canDraw] = useState(canDrawRasters);
  const look = useRasterLook({ cacheKey: "raster-preview", url, name, read: readPlaced });
  const { data } = look;
  return (
    <Stack gap="sm">
      {canDraw && data?.box !== undefined && look.layer !== undefined && (
        <MapView label={`Map of ${name}`} height={320} box={data.box}>
          <GeoTiffLayer {...look.layer} />
        </MapView>
      )}
      {data !== undefined && data.box === undefined && (
        <Text size="sm" c="dimmed">
          The file does not say where on Earth it lies, so it is on no map.
        </Text>
      )}
      <DrawErrorNote error={look.drawError} />
      <RasterPanel title={name} {...look.panel} />
    </Stack>
  );
}

async function readPlaced(url: string, band: number) {
  const response = await readRaster(url, band);
  return { ...response, box: await toBox(response.place) };
}

/** The box around the corners of a raster; nothing where its reference system is not known. */
async function toBox(place: RasterResponse["place"]): Promise<Box | undefined> {
  if (place === undefined) {
    return undefined;
  }
  const [west, south, east, north] = place.bounds;
  const corners: readonly (readonly [number, number])[] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
  ];
  const points = await toDegrees(place.code, corners).catch(() => []);
  const longitudes = points.map(([longitude]) => longitude);
  const latitudes = points.map(([, latitude]) => latitude);
  return points.length === 0
    ? undefined
    : [Math.min(...longitudes), Math.min(...latitudes), Math.max(...longitudes), Math.max(...latitudes)];
}
