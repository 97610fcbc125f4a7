import Feature from "ol/Feature.js";
import Point from "ol/geom/Point.js";
import VectorLayer from "ol/layer/Vector.js";
import { fromLonLat, toLonLat, transformExtent } from "ol/proj.js";
import VectorSource from "ol/source/Vector.js";
import Circle from "ol/style/Circle.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import { useEffect, useEffectEvent } from "react";

import type { Box } from "./box.ts";
import { useMap } from "./map-view.tsx";

/** Where a map looks: longitude, latitude, zoom. */
export type Sight = readonly [lon: number, lat: number, zoom: number];

interface MapSightProps {
  /** Where the map begins; later it is moved by hand. */
  readonly initial: Sight | undefined;
  readonly onMove: (sight: Sight, bbox: Box) => void;
}

/** Tells where the map looks, once it has come to rest. */
export function MapSight({ initial, onMove }: MapSightProps) {
  const map = useMap();
  const tell = useEffectEvent(onMove);
  const begin = useEffectEvent(() => {
    if (map !== undefined && initial !== undefined) {
      map.getView().setCenter(fromLonLat([initial[0], initial[1]]));
      map.getView().setZoom(initial[2]);
    }
  });
  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    begin();
    const told = () => {
      const view = map.getView();
      const [lon = 0, lat = 0] = toLonLat(view.getCenter() ?? [0, 0]);
      const [west = 0, south = 0, east = 0, north = 0] = transformExtent(
        view.calculateExtent(map.getSize()),
        "EPSG:3857",
        "EPSG:4326",
      );
      tell([round(lon), round(lat), Math.round((view.getZoom() ?? 0) * 100) / 100], [west, south, east, north]);
    };
    map.on("moveend", told);
    return () => map.un("moveend", told);
  }, [map]);
  return null;
}

interface PickPointProps {
  /** Clicks and Enter choose a point; not while something else is drawn. */
  readonly isActive: boolean;
  readonly value: readonly [lon: number, lat: number] | undefined;
  readonly onPick: (point: readonly [lon: number, lat: number]) => void;
}

const MARK = new Style({
  image: new Circle({
    radius: 7,
    fill: new Fill({ color: "#e8590c" }),
    stroke: new Stroke({ color: "#ffffff", width: 2 }),
  }),
});

/** A point that is chosen with a click, or with Enter at the cross in the middle. */
export function PickPoint({ isActive, value, onPick }: PickPointProps) {
  const map = useMap();
  const pick = useEffectEvent((coordinate: readonly number[]) => {
    const [lon = 0, lat = 0] = toLonLat([...coordinate]);
    onPick([round(lon), round(lat)]);
  });
  useEffect(() => {
    if (map === undefined || !isActive) {
      return undefined;
    }
    const target = map.getTargetElement();
    const byKey = (event: KeyboardEvent) => {
      const center = map.getView().getCenter();
      if (event.key === "Enter" && event.target === target && center !== undefined) {
        pick(center);
      }
    };
    const byClick = ({ coordinate }: { readonly coordinate: number[] }) => pick(coordinate);
    map.on("singleclick", byClick);
    target.addEventListener("keydown", byKey);
    return () => {
      map.un("singleclick", byClick);
      target.removeEventListener("keydown", byKey);
    };
  }, [map, isActive]);
  const [lon, lat] = value ?? [];
  useEffect(() => {
    if (map === undefined || lon === undefined || lat === undefined) {
      return undefined;
    }
    const layer = new VectorLayer({
      source: new VectorSource({ features: [new Feature(new Point(fromLonLat([lon, lat])))] }),
      style: MARK,
      zIndex: 110,
    });
    map.addLayer(layer);
    return () => void map.removeLayer(layer);
  }, [map, lon, lat]);
  return null;
}

const round = (degrees: number): number => Math.round(degrees * 1e5) / 1e5;
