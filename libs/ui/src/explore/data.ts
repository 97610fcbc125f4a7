import { queryOptions } from "@tanstack/react-query";

import type { Line, Polygon } from "../map/box.ts";
import { requestJson } from "../request.ts";
import { type Look, toQuery, toValuesQuery } from "./view-state.ts";

export interface LayerInfo {
  readonly id: string;
  readonly title: string;
  readonly extent: { readonly spatial: { readonly bbox: readonly (readonly number[])[] } };
  readonly styles: readonly { readonly id: string; readonly title: string }[];
}

export interface StyleInfo {
  readonly id: string;
  readonly title: string;
  readonly expression: string;
  readonly rescale?: readonly (readonly [number, number])[];
  readonly colormap_name?: string;
  readonly kept: boolean;
}

export interface DayInfo {
  readonly day: string;
  readonly items: number;
}

export interface BandSummary {
  readonly description: string;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly count: number;
  readonly percentile_2: number;
  readonly percentile_98: number;
  readonly histogram: readonly [counts: readonly number[], edges: readonly number[]];
}

export interface SeriesPoint {
  readonly time: string;
  readonly item: string;
  readonly values: Readonly<Record<string, number | null>>;
}

/** Values along a line, of each expression that is shown. */
export interface Profile {
  readonly expressions: readonly string[];
  readonly points: readonly {
    readonly x: number;
    readonly y: number;
    readonly kilometres: number;
    readonly values: readonly (number | null)[];
  }[];
}

const pathOf = (base: string, layer: string) => `${base}/collections/${encodeURIComponent(layer)}`;

export const layersQuery = (base: string) =>
  queryOptions({
    queryKey: ["explore", base, "layers"],
    queryFn: async ({ signal }) =>
      (await requestJson<{ readonly collections: readonly LayerInfo[] }>(`${base}/collections`, { signal }))
        .collections,
  });

export const layerQuery = (base: string, layer: string) =>
  queryOptions({
    queryKey: ["explore", base, "layer", layer],
    queryFn: ({ signal }) => requestJson<LayerInfo>(pathOf(base, layer), { signal }),
  });

export const stylesQuery = (base: string, layer: string) =>
  queryOptions({
    queryKey: ["explore", base, "styles", layer],
    queryFn: async ({ signal }) =>
      (await requestJson<{ readonly styles: readonly StyleInfo[] }>(`${pathOf(base, layer)}/styles`, { signal }))
        .styles,
  });

/** Days that have scenes in an area: the newest few hundred. */
export const daysQuery = (base: string, layer: string, bbox: readonly number[] | undefined) =>
  queryOptions({
    queryKey: ["explore", base, "days", layer, bbox],
    queryFn: async ({ signal }) => {
      const area = bbox === undefined ? "" : `?bbox=${bbox.map((value) => value.toFixed(3)).join(",")}`;
      return (
        await requestJson<{ readonly days: readonly DayInfo[] }>(`${pathOf(base, layer)}/days${area}`, { signal })
      ).days;
    },
    placeholderData: (before) => before,
  });

/** How often each value comes in what is in sight. */
export const statisticsQuery = (base: string, look: Look, bbox: readonly number[] | undefined) =>
  queryOptions({
    queryKey: ["explore", base, "statistics", look, bbox],
    queryFn: ({ signal }) => {
      const query = toValuesQuery(look);
      query.set("histogram_bins", "48");
      query.set("max_size", "256");
      if (bbox !== undefined) {
        query.set("bbox", bbox.map((value) => value.toFixed(4)).join(","));
      }
      return requestJson<Readonly<Record<string, BandSummary>>>(`${pathOf(base, look.layer)}/statistics?${query}`, {
        signal,
      });
    },
    placeholderData: (before) => before,
    retry: false,
  });

/** Values at a point, scene by scene. */
export const pointQuery = (base: string, look: Look, [lon, lat]: readonly [number, number]) =>
  queryOptions({
    queryKey: ["explore", base, "point", look, lon, lat],
    queryFn: async ({ signal }) => {
      const query = toValuesQuery({ ...look, time: undefined });
      const { assets } = await requestJson<{
        readonly assets?: readonly {
          readonly name: string;
          readonly datetime: string | null;
          readonly values: readonly (number | null)[];
          readonly band_descriptions: readonly string[];
        }[];
      }>(`${pathOf(base, look.layer)}/point/${lon},${lat}?${query}`, { signal });
      return (assets ?? []).map(({ name, datetime, values, band_descriptions: names }): SeriesPoint => ({
        time: datetime ?? "",
        item: name,
        values: Object.fromEntries(names.map((band, at) => [band, values[at] ?? null])),
      }));
    },
  });

/** Means over an area, scene by scene. */
export const areaQuery = (base: string, look: Look, area: Polygon) =>
  queryOptions({
    queryKey: ["explore", base, "area", look, area],
    queryFn: async ({ signal }) => {
      const query = toValuesQuery({ ...look, time: undefined });
      const { series } = await requestJson<{
        readonly series: readonly {
          readonly item: string;
          readonly datetime: string | null;
          readonly statistics: Readonly<Record<string, { readonly mean: number }>>;
        }[];
      }>(`${pathOf(base, look.layer)}/timeseries?${query}`, {
        method: "POST",
        body: { type: "Feature", properties: {}, geometry: area },
        signal,
      });
      return series.map(({ item, datetime, statistics }): SeriesPoint => ({
        time: datetime ?? "",
        item,
        values: Object.fromEntries(Object.entries(statistics).map(([band, { mean }]) => [band, mean])),
      }));
    },
  });

/** Values along a line, of the day that is shown. */
export const profileQuery = (base: string, look: Look, { coordinates }: Line) =>
  queryOptions({
    queryKey: ["explore", base, "profile", look, coordinates],
    queryFn: ({ signal }) => {
      const query = toValuesQuery(look);
      query.set("coords", `LINESTRING(${coordinates.map(([lon, lat]) => `${lon} ${lat}`).join(",")})`);
      return requestJson<Profile>(`${pathOf(base, look.layer)}/profile?${query}`, { signal });
    },
    retry: false,
  });

export const tileUrl = (base: string, look: Look): string => {
  const query = toQuery(look).toString();
  return `${pathOf(base, look.layer)}/tiles/WebMercatorQuad/{z}/{x}/{y}.png${query === "" ? "" : `?${query}`}`;
};

export const styleUrl = (base: string, layer: string, style: string): string =>
  `${pathOf(base, layer)}/styles/${encodeURIComponent(style)}`;

export const coverageUrl = (base: string, layer: string, parameters: URLSearchParams): string =>
  `${pathOf(base, layer)}/coverage?${parameters}`;
