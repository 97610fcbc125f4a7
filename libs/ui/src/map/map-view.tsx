import "ol/ol.css";
import "./map.css";

import { useComputedColorScheme } from "@mantine/core";
import OlMap from "ol/Map.js";
import View from "ol/View.js";
import Attribution from "ol/control/Attribution.js";
import FullScreen from "ol/control/FullScreen.js";
import ScaleLine from "ol/control/ScaleLine.js";
import Zoom from "ol/control/Zoom.js";
import { defaults as defaultInteractions } from "ol/interaction/defaults.js";
import { transformExtent } from "ol/proj.js";
import { type ReactNode, createContext, use, useEffect, useId, useRef, useState } from "react";

import { createBaseLayers, seaOf } from "./base-map.ts";
import { MapTools, useBaseMap } from "./map-tools.tsx";
import { type Box, expandBbox } from "./box.ts";

const MapContext = createContext<OlMap | undefined>(undefined);

/** The map that a layer is in. */
export function useMap(): OlMap | undefined {
  return use(MapContext);
}

interface MapViewProps {
  /** What the map shows: "Footprints of the results". */
  readonly label: string;
  readonly height?: number | string;
  /** What is to be seen; when it changes the map goes there. The world when left out. */
  readonly box?: Box | undefined;
  /** Layers: `Footprints`, `GeoTiffLayer`, `DrawShape`, … */
  readonly children?: ReactNode;
}

/** A map of the world with layers on it. It works with the keyboard: arrows move it, plus and minus zoom. */
export function MapView({ label, height = 420, box: bbox, children }: MapViewProps) {
  const target = useRef<HTMLDivElement>(null);
  const help = useId();
  const [map, setMap] = useState<OlMap>();
  const scheme = useComputedColorScheme("light");
  const isBusy = useBusy(map);
  const [baseMap, setBaseMap] = useBaseMap();

  useEffect(() => {
    if (target.current === null) {
      return undefined;
    }
    const made = new OlMap({
      target: target.current,
      controls: [
        new Zoom({ zoomInTipLabel: "Zoom in", zoomOutTipLabel: "Zoom out" }),
        new FullScreen({ tipLabel: "Full screen" }),
        new ScaleLine(),
        new Attribution({ collapsible: false }),
      ],
      // A page that is scrolled with the wheel or a finger must not get stuck in the map.
      interactions: defaultInteractions({ onFocusOnly: true, altShiftDragRotate: false, pinchRotate: false }),
      view: new View({ center: [0, 2_500_000], zoom: 1.4, maxZoom: 20, minZoom: 1 }),
    });
    setMap(made);
    return () => {
      made.setTarget(undefined);
      made.dispose();
    };
  }, []);

  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    const layers = createBaseLayers(scheme, baseMap);
    layers.forEach(({ layer, zIndex }) => {
      layer.setZIndex(zIndex);
      map.addLayer(layer);
    });
    return () => layers.forEach(({ layer }) => map.removeLayer(layer));
  }, [map, scheme, baseMap]);

  const [west, south, east, north] = bbox ?? [];
  useEffect(() => {
    if (map === undefined || west === undefined || south === undefined || east === undefined || north === undefined) {
      return;
    }
    map.updateSize();
    const extent = transformExtent([...expandBbox([west, south, east, north])], "EPSG:4326", "EPSG:3857");
    map.getView().fit(extent, { maxZoom: 16 });
  }, [map, west, south, east, north]);

  return (
    <div className="swath-map">
      <div
        ref={target}
        className="swath-map-target"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a map is moved with the keyboard
        tabIndex={0}
        role="application"
        aria-label={label}
        aria-describedby={help}
        style={{ height, background: seaOf(scheme) }}
      />
      <MapTools map={map} baseMap={baseMap} onBaseMap={setBaseMap} />
      <div className="swath-map-cross" style={{ height }} aria-hidden />
      {isBusy && (
        <div className="swath-map-busy" role="status">
          Drawing …
        </div>
      )}
      <span id={help} hidden>
        Arrow keys move the map, plus and minus zoom.
      </span>
      <MapContext value={map}>{children}</MapContext>
    </div>
  );
}

/** Set on a map by a layer that fetches something before it is on the map. */
export const PREPARING = "swath-preparing";

/** Milliseconds after which somebody who waits is told so. */
const TIMEOUT = 300;

/** Whether layers have been fetched or drawn for longer than anybody overlooks. */
function useBusy(map: OlMap | undefined): boolean {
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const begin = () => {
      timer ??= setTimeout(() => setBusy(true), TIMEOUT);
    };
    const end = () => {
      clearTimeout(timer);
      timer = undefined;
      setBusy(false);
    };
    const look = () => (map.get(PREPARING) === true ? begin() : end());
    map.on("loadstart", begin);
    map.on("loadend", look);
    map.on("propertychange", look);
    return () => {
      clearTimeout(timer);
      map.un("loadstart", begin);
      map.un("loadend", look);
      map.un("propertychange", look);
    };
  }, [map]);
  return isBusy;
}
