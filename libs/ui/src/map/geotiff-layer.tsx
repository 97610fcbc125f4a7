import { setLevel } from "ol/console.js";
import ImageLayer from "ol/layer/Image.js";
import WebGLTileLayer from "ol/layer/WebGLTile.js";
import { transformExtent } from "ol/proj.js";
import GeoTIFF from "ol/source/GeoTIFF.js";
import ImageStatic from "ol/source/ImageStatic.js";
import { useEffect, useEffectEvent, useRef } from "react";

import type { Box } from "./box.ts";
import { type ColourRamp, colourAt } from "./colour-ramps.ts";
import { PREPARING, useMap } from "./map-view.tsx";
import { prepareProjections } from "./projections.ts";

// The library writes failed reads to the console. They are shown on the page instead; a page that is left cuts them off, which is no failure.
setLevel("none");

interface GeoTiffLayerProps {
  /** Same origin; the server answers ranges. */
  readonly url: string;
  /** Counted from 1. */
  readonly band?: number;
  readonly ramp: ColourRamp;
  /** Values that get the first and the last colour. */
  readonly range: readonly [number, number];
  readonly opacity?: number;
  readonly onError?: (error: Error) => void;
}

/** A band of a Cloud-Optimised GeoTIFF in colours; only the parts in sight are read. Needs WebGL (`canDrawRasters`). */
export function GeoTiffLayer({ url, band = 1, ramp, range, opacity = 1, onError }: GeoTiffLayerProps) {
  const map = useMap();
  const layer = useRef<WebGLTileLayer>(null);
  const fail = useEffectEvent((error: unknown) => onError?.(error instanceof Error ? error : new Error(String(error))));
  const [low, high] = range;
  const look = useEffectEvent((hasAlpha: boolean) => ({
    style: { color: toColour(ramp, [low, high], hasAlpha) },
    opacity,
  }));

  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    let isGone = false;
    let made: WebGLTileLayer | undefined;
    const add = async () => {
      await prepareProjections();
      const source = new GeoTIFF({
        sources: [{ url, bands: [band] }],
        normalize: false,
        interpolate: false,
        wrapX: false,
        loadMissingProjection: true,
      });
      await source.getView();
      if (isGone) {
        return;
      }
      if (source.getState() === "error") {
        throw new Error("The raster cannot be read.", { cause: source.getError() });
      }
      finishAlways(source);
      made = new WebGLTileLayer({ source, ...look(source.hasAlpha === true), zIndex: 10 });
      layer.current = made;
      map.addLayer(made);
    };
    map.set(PREPARING, true);
    add()
      .catch((error: unknown) => (isGone ? undefined : fail(error)))
      .finally(() => (isGone ? undefined : map.set(PREPARING, false)));
    return () => {
      isGone = true;
      layer.current = null;
      if (made !== undefined) {
        map.removeLayer(made);
        made.dispose();
      }
    };
  }, [map, url, band]);

  // Other colours need no other parts of the file.
  useEffect(() => {
    const source = layer.current?.getSource();
    layer.current?.setStyle({
      color: toColour(ramp, [low, high], source instanceof GeoTIFF && source.hasAlpha === true),
    });
  }, [ramp, low, high]);

  useEffect(() => {
    layer.current?.setOpacity(opacity);
  }, [opacity]);
  return null;
}

/**
 * Lets parts that are being read come to their end when the layer goes: the library throws out of reach of anybody who could
 * catch it when they are cut off.
 */
function finishAlways(source: GeoTIFF): void {
  const load = source["loadTile_"].bind(source);
  source["setLoader"]((z, x, y, options) => load(z, x, y, { ...options, signal: new AbortController().signal }));
}

/** The style expression of a ramp: transparent where there is no value. */
function toColour(ramp: ColourRamp, [low, high]: readonly [number, number], hasAlpha: boolean) {
  const steps = 16;
  const width = high > low ? high - low : 1;
  const stops = Array.from({ length: steps + 1 }, (_, index) => [
    low + (width * index) / steps,
    ["color", ...colourAt(ramp, index / steps), 1],
  ]).flat(1);
  const colour = ["interpolate", ["linear"], ["band", 1], ...stops];
  return hasAlpha ? ["case", ["==", ["band", 2], 0], ["color", 0, 0, 0, 0], colour] : colour;
}

interface PictureLayerProps {
  readonly url: string;
  /** Where the picture lies, about. */
  readonly box: Box;
  readonly opacity?: number;
}

/** A picture laid on the map; for machines that cannot draw rasters. */
export function PictureLayer({ url, box: [west, south, east, north], opacity = 1 }: PictureLayerProps) {
  const map = useMap();
  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    const imageExtent = transformExtent([west, south, east, north], "EPSG:4326", "EPSG:3857");
    const layer = new ImageLayer({
      source: new ImageStatic({ url, imageExtent, projection: "EPSG:3857" }),
      opacity,
      zIndex: 10,
    });
    map.addLayer(layer);
    return () => void map.removeLayer(layer);
  }, [map, url, west, south, east, north, opacity]);
  return null;
}

/** Whether this browser can draw rasters on a map. */
export function canDrawRasters(): boolean {
  const canvas = document.createElement("canvas");
  return canvas.getContext("webgl2") !== null || canvas.getContext("webgl") !== null;
}
