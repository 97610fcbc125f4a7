import type Feature from "ol/Feature.js";
import type MapBrowserEvent from "ol/MapBrowserEvent.js";
import GeoJSON from "ol/format/GeoJSON.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import { useEffect, useEffectEvent } from "react";

import { useMap } from "./map-view.tsx";

export interface Footprint {
  readonly id: string;
  /** GeoJSON geometry in degrees. */
  readonly geometry: unknown;
}

interface FootprintsProps {
  readonly items: readonly Footprint[];
  readonly selected?: string | undefined;
  readonly onSelect?: (id: string) => void;
  /** Only lines, where what lies below is to be seen. */
  readonly outline?: boolean;
}

const ACCENT = "#16888f";
const styleOf = (isSelected: boolean, outline: boolean) =>
  new Style({
    stroke: new Stroke({ color: isSelected ? "#e8590c" : ACCENT, width: isSelected ? 3 : 2 }),
    fill: new Fill({ color: outline ? "#00000001" : isSelected ? "#e8590c33" : "#16888f33" }),
    zIndex: isSelected ? 2 : 1,
  });

/** Outlines of scenes; one is chosen by a click. A list beside the map does the same for the keyboard. */
export function Footprints({ items, selected, onSelect, outline = false }: FootprintsProps) {
  const map = useMap();
  const select = useEffectEvent((id: string) => onSelect?.(id));

  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    const format = new GeoJSON({ featureProjection: "EPSG:3857" });
    const features = items.flatMap(({ id, geometry }): Feature[] => {
      if (geometry === undefined || geometry === null) {
        return [];
      }
      const feature = format.readFeature({ type: "Feature", id, geometry, properties: {} }) as Feature;
      return [feature];
    });
    const layer = new VectorLayer({
      source: new VectorSource({ features, wrapX: true }),
      zIndex: 50,
      style: (feature) => styleOf(feature.getId() === selected, outline),
    });
    map.addLayer(layer);
    const onClick = (event: MapBrowserEvent) => {
      const id = map.forEachFeatureAtPixel(event.pixel, (feature) => feature.getId(), {
        layerFilter: (candidate) => candidate === layer,
        hitTolerance: 4,
      });
      if (id !== undefined) {
        select(String(id));
      }
    };
    map.on("singleclick", onClick);
    return () => {
      map.un("singleclick", onClick);
      map.removeLayer(layer);
    };
  }, [map, items, selected, outline]);
  return null;
}
