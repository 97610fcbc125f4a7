import type OlMap from "ol/Map.js";
import { boundingExtent } from "ol/extent.js";
import type Geometry from "ol/geom/Geometry.js";
import LineString from "ol/geom/LineString.js";
import Polygon, { fromExtent } from "ol/geom/Polygon.js";
import { toLonLat } from "ol/proj.js";

type Point = readonly [number, number];
type Shape = "box" | "polygon" | "line";

interface KeyboardDrawing {
  readonly map: OlMap;
  readonly shape: Shape;
  /** What is drawn so far, in the map's coordinates; undefined: nothing. */
  readonly onPreview: (geometry: Geometry | undefined) => void;
  readonly onDone: (geometry: Geometry) => void;
  /** What happened, in words for those who do not see it. */
  readonly onSay: (text: string) => void;
  readonly onCancel: () => void;
}

/** Pixels that an arrow key moves the map below the cross, and with Shift. */
const STEP = 32;
const FINE = 4;
/** Corners that a shape has at least. */
const MIN_CORNERS = { box: 2, polygon: 3, line: 2 } as const;
const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
};

/**
 * Draws with keys while the map has the focus: arrows move the map below a cross in its middle (with Shift a little), Enter sets
 * a corner there, Backspace takes the last one back, Escape ends it. A box has two corners; a polygon or line ends with Enter where the last corner is.
 * Gives a function that ends it.
 */
export function drawByKeyboard({ map, shape, onPreview, onDone, onSay, onCancel }: KeyboardDrawing): () => void {
  const target = map.getTargetElement();
  const view = map.getView();
  let corners: readonly Point[] = [];
  const middle = (): Point => (view.getCenter() ?? [0, 0]) as unknown as Point;
  const preview = () => onPreview(outline(shape, [...corners, ...(corners.length > 0 ? [middle()] : [])]));

  const setCorner = () => {
    const here = middle();
    const last = corners.at(-1);
    const isSame = last !== undefined && isNear(last, here, view.getResolution() ?? 1);
    if (isSame && shape !== "box" && corners.length >= MIN_CORNERS[shape]) {
      const points = corners.map((point) => [...point]);
      onDone(shape === "line" ? new LineString(points) : new Polygon([[...points, [...(corners[0] ?? here)]]]));
      return;
    }
    if (isSame) {
      onSay("There is a corner already: move away from it with the arrow keys, then press Enter.");
      return;
    }
    corners = [...corners, here];
    if (shape === "box" && corners.length === 2) {
      onDone(fromExtent(boundingExtent(corners.map((point) => [...point]))));
      return;
    }
    preview();
    onSay(`Corner ${corners.length} at ${describe(here)}. ${toHint(shape, corners.length)}`);
  };

  const onKey = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (event.ctrlKey || event.altKey || event.metaKey) {
      return;
    }
    if (move !== undefined) {
      const pixels = (event.shiftKey ? FINE : STEP) * (view.getResolution() ?? 1);
      const [x, y] = middle();
      view.setCenter([x + move[0] * pixels, y + move[1] * pixels]);
    } else if (event.key === "Enter") {
      if (!event.repeat) {
        setCorner();
      }
    } else if (event.key === "Escape") {
      onCancel();
    } else if (event.key === "Backspace" && corners.length > 0) {
      corners = corners.slice(0, -1);
      preview();
      onSay(`The corner is taken back; ${corners.length} left.`);
    } else {
      return;
    }
    // The map's own keys move it in larger steps.
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  target.addEventListener("keydown", onKey, { capture: true });
  view.on("change:center", preview);
  return () => {
    target.removeEventListener("keydown", onKey, { capture: true });
    view.un("change:center", preview);
    onPreview(undefined);
  };
}

function toHint(shape: Shape, corners: number): string {
  if (shape === "box") {
    return "Move to the opposite corner and press Enter.";
  }
  return corners < MIN_CORNERS[shape]
    ? "Move on and press Enter."
    : "Move on and press Enter; press it twice at the last corner.";
}

function outline(shape: Shape, points: readonly Point[]): Geometry | undefined {
  const [first] = points;
  if (first === undefined) {
    return undefined;
  }
  const coordinates = points.map((point) => [...point]);
  if (shape === "box") {
    return fromExtent(boundingExtent(coordinates));
  }
  return shape === "line" || points.length < 3
    ? new LineString(coordinates)
    : new Polygon([[...coordinates, [...first]]]);
}

const isNear = (a: Point, b: Point, resolution: number): boolean =>
  Math.hypot(a[0] - b[0], a[1] - b[1]) < resolution * 1.5;

function describe(point: Point): string {
  const [longitude = 0, latitude = 0] = toLonLat([...point]);
  return `${Math.abs(latitude).toFixed(3)}° ${latitude < 0 ? "south" : "north"}, ${Math.abs(longitude).toFixed(3)}° ${longitude < 0 ? "west" : "east"}`;
}
