import Feature from "ol/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import type Geometry from "ol/geom/Geometry.js";
import { fromExtent } from "ol/geom/Polygon.js";
import Draw, { createBox } from "ol/interaction/Draw.js";
import Modify from "ol/interaction/Modify.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import { useEffect, useEffectEvent, useRef } from "react";

import type { Line, Polygon } from "./box.ts";
import { drawByKeyboard } from "./draw-by-keyboard.ts";
import { useMap } from "./map-view.tsx";

/** What each shape is when it is drawn. */
interface Shapes {
  readonly box: Polygon;
  readonly polygon: Polygon;
  readonly line: Line;
}

interface DrawShapeProps<S extends keyof Shapes> {
  readonly shape: S;
  /** What is drawn now, in degrees. */
  readonly value: Shapes[S] | undefined;
  readonly onChange: (drawn: Shapes[S]) => void;
  /** Drawing begins with the next click; otherwise the map is moved and what is there is changed. */
  readonly isDrawing: boolean;
  /** Hears of corners that are set with keys, in words. */
  readonly onSay?: (text: string) => void;
  readonly onCancel?: () => void;
}

const FORMAT = new GeoJSON({ featureProjection: "EPSG:3857" });
const STYLE = new Style({
  stroke: new Stroke({ color: "#e8590c", width: 3 }),
  fill: new Fill({ color: "#e8590c33" }),
});

const DRAWN_AS = { box: "Circle", polygon: "Polygon", line: "LineString" } as const;

/** A box, polygon or line that is drawn with a pointer or with keys, and changed with a pointer. */
export function DrawShape<S extends keyof Shapes>({
  shape,
  value,
  onChange,
  isDrawing,
  onSay,
  onCancel,
}: DrawShapeProps<S>) {
  const map = useMap();
  const tell = useEffectEvent(onChange);
  const report = useEffectEvent((text: string) => onSay?.(text));
  const cancel = useEffectEvent(() => onCancel?.());
  const source = useRef<VectorSource>(null);

  useEffect(() => {
    if (map === undefined) {
      return undefined;
    }
    const made = new VectorSource();
    source.current = made;
    const layer = new VectorLayer({ source: made, style: STYLE, zIndex: 100 });
    const modify = new Modify({ source: made });
    modify.on("modifyend", () => {
      const geometry = made.getFeatures()[0]?.getGeometry();
      if (geometry !== undefined) {
        tell(toShape(geometry, shape));
      }
    });
    map.addLayer(layer);
    map.addInteraction(modify);
    return () => {
      source.current = null;
      map.removeInteraction(modify);
      map.removeLayer(layer);
    };
  }, [map, shape]);

  useEffect(() => {
    source.current?.clear();
    if (value !== undefined) {
      const geometry = FORMAT.readGeometry(value);
      source.current?.addFeature(new Feature(geometry));
    }
  }, [map, shape, value]);

  useEffect(() => {
    if (map === undefined || !isDrawing) {
      return undefined;
    }
    const draw = new Draw({
      type: DRAWN_AS[shape],
      style: STYLE,
      ...(shape === "box" && { geometryFunction: createBox() }),
    });
    draw.on("drawend", ({ feature }) => {
      const geometry = feature.getGeometry();
      if (geometry !== undefined) {
        tell(toShape(geometry, shape));
      }
    });
    map.addInteraction(draw);
    const sketch = new VectorSource();
    const layer = new VectorLayer({ source: sketch, style: STYLE, zIndex: 101 });
    map.addLayer(layer);
    const endKeys = drawByKeyboard({
      map,
      shape,
      onPreview: (geometry) => {
        sketch.clear();
        if (geometry !== undefined) {
          sketch.addFeature(new Feature(geometry));
        }
      },
      onDone: (geometry) => tell(toShape(geometry, shape)),
      onSay: (text) => report(text),
      onCancel: () => cancel(),
    });
    const target = map.getTargetElement();
    target.dataset["drawing"] = "";
    // Keys go to the map at once.
    target.focus({ preventScroll: true });
    target.scrollIntoView({ block: "nearest" });
    return () => {
      delete target.dataset["drawing"];
      endKeys();
      map.removeLayer(layer);
      map.removeInteraction(draw);
    };
  }, [map, shape, isDrawing]);
  return null;
}

/** What was drawn, in degrees with six digits behind the point; a changed box stays a box. */
function toShape<S extends keyof Shapes>(geometry: Geometry, shape: S): Shapes[S] {
  const drawn = shape === "box" ? fromExtent(geometry.getExtent()) : geometry;
  return FORMAT.writeGeometryObject(drawn, { decimals: 6, rightHanded: true }) as unknown as Shapes[S];
}
