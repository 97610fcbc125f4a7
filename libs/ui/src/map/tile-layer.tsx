import OlTileLayer from "ol/layer/Tile.js";
import { getRenderPixel } from "ol/render.js";
import XYZ from "ol/source/XYZ.js";
import { useEffect, useRef } from "react";

import { useMap } from "./map-view.tsx";

interface TileLayerProps {
  /** `…/{z}/{x}/{y}.png`, of the same origin. */
  readonly url: string;
  readonly opacity?: number;
  readonly zIndex?: number;
  /** Shows only what is right of this share of the map's width: two layers are compared by it. */
  readonly from?: number;
}

/** Pictures of a tile service on the map. */
export function TileLayer({ url, opacity = 1, zIndex = 10, from = 0 }: TileLayerProps) {
  const map = useMap();
  const layer = useRef<OlTileLayer>(null);
  const left = useRef(from);

  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    const made = new OlTileLayer({ source: new XYZ({ url, maxZoom: 20, transition: 0 }), zIndex });
    made.on("prerender", (event) => {
      const { context } = event;
      const [width = 0, height = 0] = map.getSize() ?? [];
      if (!(context instanceof CanvasRenderingContext2D) || left.current <= 0) {
        return;
      }
      const start = width * left.current;
      const corners = [
        [start, 0],
        [width, 0],
        [width, height],
        [start, height],
      ].map((pixel) => getRenderPixel(event, pixel));
      context.save();
      context.beginPath();
      corners.forEach(([x = 0, y = 0], at) => (at === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
      context.closePath();
      context.clip();
    });
    made.on("postrender", ({ context }) => {
      if (context instanceof CanvasRenderingContext2D && left.current > 0) {
        context.restore();
      }
    });
    layer.current = made;
    map.addLayer(made);
    return () => {
      layer.current = null;
      map.removeLayer(made);
      made.dispose();
    };
  }, [map, url, zIndex]);

  useEffect(() => {
    layer.current?.setOpacity(opacity);
  }, [map, url, opacity]);

  useEffect(() => {
    left.current = from;
    map?.render();
  }, [map, from]);
  return null;
}
