import { suggestRamp } from "@swath/ui/map";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { RasterResponse } from "./raster-messages.ts";

interface RasterLookOptions<T extends RasterResponse> {
  /** Tells readings of one kind from others in the cache. */
  readonly cacheKey: string;
  /** Of the raster; undefined while there is none to show. */
  readonly url: string | undefined;
  /** What the colours are suggested by. */
  readonly name: string;
  readonly read: (url: string, band: number) => Promise<T>;
}

/** How one raster is looked at: its band, colours, range of values and opacity, as a map's layer and the panel beside it need them. */
export function useRasterLook<T extends RasterResponse>({ cacheKey, url, name, read }: RasterLookOptions<T>) {
  const [band, setBand] = useState(1);
  const [rampName, setRampName] = useState<string>();
  const [range, setRange] = useState<readonly [number, number]>();
  const [opacity, setOpacity] = useState(1);
  const [drawError, setDrawError] = useState<Error>();
  const query = useQuery({
    queryKey: [cacheKey, url, band],
    queryFn: () => read(url ?? "", band),
    enabled: url !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    retry: 1,
  });
  const ramp = suggestRamp(rampName ?? name);
  const { statistics } = query.data ?? {};
  const shownRange = range ?? (statistics && ([statistics.low, statistics.high] as const));
  const onBand = (next: number) => {
    setBand(next);
    setRange(undefined);
  };
  return {
    data: query.data,
    opacity,
    drawError,
    /** Another raster is shown: what was chosen for this one is forgotten. */
    reset: ({ keepsRamp }: { readonly keepsRamp: boolean }) => {
      onBand(1);
      setDrawError(undefined);
      if (!keepsRamp) {
        setRampName(undefined);
      }
    },
    layer:
      url === undefined || shownRange === undefined
        ? undefined
        : { url, band, ramp, range: shownRange, opacity, onError: setDrawError },
    panel: {
      query,
      band,
      onBand,
      ramp,
      onRamp: setRampName,
      range: shownRange,
      onRange: setRange,
      opacity,
      onOpacity: setOpacity,
    },
  };
}
