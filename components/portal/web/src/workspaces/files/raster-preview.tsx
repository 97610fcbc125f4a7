import { Alert, Stack, Text } from "@mantine/core";
import { type Box, GeoTiffLayer, MapView, canDrawRasters, suggestRamp, toDegrees } from "@swath/ui/map";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { RasterPanel } from "../../../processing/results/raster-panel.tsx";
import type { RasterAnswer } from "../../../processing/results/raster-messages.ts";
import { readRaster } from "../../../processing/results/read-raster.ts";

/** A raster of a workspace on a map, with the spread of its values; only the parts in sight are read. */
export function RasterPreview({ url, name }: { readonly url: string; readonly name: string }) {
  const [canDraw] = useState(canDrawRasters);
  const [band, setBand] = useState(1);
  const [rampName, setRampName] = useState<string>();
  const [range, setRange] = useState<readonly [number, number]>();
  const [opacity, setOpacity] = useState(1);
  const [drawError, setDrawError] = useState<Error>();
  const raster = useQuery({
    queryKey: ["raster-preview", url, band],
    queryFn: async () => {
      const answer = await readRaster(url, band);
      return { ...answer, box: await toBox(answer.place) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: 1,
  });
  const ramp = suggestRamp(rampName ?? name);
  const { statistics } = raster.data ?? {};
  const shownRange = range ?? (statistics && ([statistics.low, statistics.high] as const));
  return (
    <Stack gap="sm">
      {canDraw && raster.data?.box !== undefined && shownRange !== undefined && (
        <MapView label={`Map of ${name}`} height={320} box={raster.data.box}>
          <GeoTiffLayer url={url} band={band} ramp={ramp} range={shownRange} opacity={opacity} onError={setDrawError} />
        </MapView>
      )}
      {raster.data !== undefined && raster.data.box === undefined && (
        <Text size="sm" c="dimmed">
          The file does not say where on Earth it lies, so it is on no map.
        </Text>
      )}
      {drawError !== undefined && (
        <Alert variant="light" color="red" role="alert" title="The raster is not on the map">
          {drawError.message}
        </Alert>
      )}
      <RasterPanel
        title={name}
        query={raster}
        band={band}
        onBand={(next) => {
          setBand(next);
          setRange(undefined);
        }}
        ramp={ramp}
        onRamp={setRampName}
        range={shownRange}
        onRange={setRange}
        opacity={opacity}
        onOpacity={setOpacity}
      />
    </Stack>
  );
}

/** The box around the corners of a raster; nothing where its reference system is not known. */
async function toBox(place: RasterAnswer["place"]): Promise<Box | undefined> {
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
