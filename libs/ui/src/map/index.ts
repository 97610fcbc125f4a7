export { type Box, type Line, type Polygon, expandBbox } from "./box.ts";
export { type ColourRamp, RAMPS, colourAt, suggestRamp, toGradient } from "./colour-ramps.ts";
export { DrawShape } from "./draw-shape.tsx";
export { type Footprint, Footprints } from "./footprints.tsx";
export { GeoTiffLayer, PictureLayer, canDrawRasters } from "./geotiff-layer.tsx";
export { MapView } from "./map-view.tsx";
export { toDegrees } from "./to-degrees.ts";
export { MapSight, PickPoint, type Sight } from "./map-events.tsx";
export { TileLayer } from "./tile-layer.tsx";
