import { type Extent, getWidth } from "ol/extent.js";
import Feature from "ol/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import Graticule from "ol/layer/Graticule.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Circle from "ol/style/Circle.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import Text from "ol/style/Text.js";
import { fromLonLat, transformExtent } from "ol/proj.js";
import OlTileLayer from "ol/layer/Tile.js";
import type Layer from "ol/layer/Layer.js";
import MultiPolygon from "ol/geom/MultiPolygon.js";
import Point from "ol/geom/Point.js";
import { bbox as inSight } from "ol/loadingstrategy.js";
import XYZ from "ol/source/XYZ.js";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import detailedUrl from "world-atlas/countries-10m.json?url";
import countriesUrl from "world-atlas/countries-50m.json?url";

import type { BaseMapOption } from "../base-maps.ts";
import { loadPlaces } from "./places.ts";

/** Where the shapes of countries are from; shown in the corner of every map. */
const ATTRIBUTION = "Natural Earth";
const PLACES_ATTRIBUTION = "Places: GeoNames (CC BY 4.0)";

/** Metres a pixel: about a country on the screen. */
const DETAILED_BELOW = 1500;

const FONT = '12px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif';

const COLOURS = {
  light: { sea: "#dbe8f0", land: "#f4f1ea", border: "#b9b3a5", text: "#5b5646", halo: "#f4f1ea", grid: "#16202b22" },
  dark: { sea: "#10202c", land: "#263442", border: "#46586a", text: "#aebdcb", halo: "#1b2733", grid: "#ffffff22" },
} as const;

export type MapScheme = keyof typeof COLOURS;

/** The colour behind everything: the sea. */
export const seaOf = (scheme: MapScheme): string => COLOURS[scheme].sea;

/** Countries and a net of longitudes and latitudes, drawn from a file of the deployment. */
function createOutlines(scheme: MapScheme, hasNames: boolean): readonly [VectorLayer, Graticule] {
  const { land, border, text, halo, grid } = COLOURS[scheme];
  const shape = new Style({ fill: new Fill({ color: land }), stroke: new Stroke({ color: border, width: 1 }) });
  const label = new Text({
    font: FONT,
    fill: new Fill({ color: text }),
    stroke: new Stroke({ color: halo, width: 3 }),
    overflow: false,
  });
  const named = new Style({ fill: shape.getFill()!, stroke: shape.getStroke()!, text: label });
  const source = new VectorSource({ attributions: ATTRIBUTION, wrapX: true });
  const show = (countries: readonly Feature[]) => {
    source.clear(true);
    source.addFeatures(countries.map((country) => country.clone()));
  };
  let isDetailed = false;
  const showAtFirst = (countries: readonly Feature[]) => {
    if (!isDetailed) {
      show(countries);
    }
  };
  // Without them a map is what it shows, on an empty sea; the next map asks for them again.
  void loadCountries().then(showAtFirst, () => {});
  const countries = new VectorLayer({
    source,
    declutter: true,
    style: (country, resolution) => {
      // Of the whole world only names that fit into their countries.
      if (!hasNames || resolution > 80_000) {
        return shape;
      }
      label.setText(String(country.get("name") ?? ""));
      return named;
    },
  });
  // Finer coasts and borders, once somebody looks that closely.
  countries.on("prerender", ({ frameState }) => {
    if (!isDetailed && (frameState?.viewState.resolution ?? Infinity) < DETAILED_BELOW) {
      isDetailed = true;
      void loadDetailed().then(show, () => {
        isDetailed = false;
      });
    }
  });
  const graticule = new Graticule({
    strokeStyle: new Stroke({ color: grid, width: 1 }),
    showLabels: true,
    wrapX: true,
    lonLabelStyle: new Text({ font: FONT, textBaseline: "bottom", offsetY: -2, fill: new Fill({ color: text }) }),
    latLabelStyle: new Text({ font: FONT, textAlign: "end", offsetX: -4, fill: new Fill({ color: text }) }),
  });
  return [countries, graticule];
}

/** The chosen base map, with the place of each of its layers in the pile. */
export function createBaseLayers(
  scheme: MapScheme,
  { id, url, attribution }: BaseMapOption,
): readonly { readonly layer: Layer; readonly zIndex: number }[] {
  const [countries, graticule] = createOutlines(scheme, id === "map");
  const lines = [
    { layer: countries, zIndex: -3 },
    { layer: graticule, zIndex: 90 },
  ];
  if (id === "plain") {
    return lines;
  }
  if (url === "") {
    return [...lines, { layer: createPlaceNames(scheme), zIndex: 80 }];
  }
  const source = new XYZ({ url, maxZoom: 20, ...(attribution !== undefined && { attributions: attribution }) });
  return [...lines, { layer: new OlTileLayer({ source }), zIndex: -2 }];
}

/** Ranks of the places whose names are drawn, by metres a pixel. */
const PLACES_SHOWN: readonly (readonly [resolution: number, places: number])[] = [
  [150, Number.POSITIVE_INFINITY],
  [600, 8000],
  [2000, 1500],
  [6000, 300],
];

function createPlaceNames(scheme: MapScheme): VectorLayer {
  const { text, halo } = COLOURS[scheme];
  const label = new Text({
    font: FONT,
    offsetY: -8,
    fill: new Fill({ color: text }),
    stroke: new Stroke({ color: halo, width: 3 }),
  });
  const dot = new Circle({ radius: 2.5, fill: new Fill({ color: text }) });
  const style = new Style({ text: label, image: dot });
  const most = (resolution: number) => PLACES_SHOWN.find(([limit]) => resolution <= limit)?.[1] ?? 0;
  const loaded: Extent[] = [];
  const source: VectorSource = new VectorSource({
    attributions: PLACES_ATTRIBUTION,
    // Those in sight only: the world has too many for every map.
    strategy: inSight,
    loader: (extent, resolution, _projection, onLoad, onError) => {
      loaded.push(extent);
      loadPlaces().then(
        (places) => {
          const [west = 0, south = 0, east = 0, north = 0] = transformExtent(extent, "EPSG:3857", "EPSG:4326");
          const features = places
            .slice(0, Math.min(places.length, most(resolution)))
            .filter(
              ({ longitude, latitude }) =>
                longitude >= west && longitude <= east && latitude >= south && latitude <= north,
            )
            .map(({ name, rank, longitude, latitude }) => {
              const made = new Feature({ geometry: new Point(fromLonLat([longitude, latitude])), name, rank });
              made.setId(rank);
              return made;
            });
          source.addFeatures(features);
          onLoad?.(features);
        },
        () => {
          source.removeLoadedExtent(extent);
          onError?.();
        },
      );
    },
  });
  let last = 0;
  const layer = new VectorLayer({
    source,
    declutter: true,
    maxResolution: 6000,
    // The largest names first, so that they are the ones that have room.
    renderOrder: (a, b) => Number(a.get("rank")) - Number(b.get("rank")),
    style: (place, resolution) => {
      if (Number(place.get("rank")) >= most(resolution)) {
        return undefined;
      }
      label.setText(String(place.get("name")));
      return style;
    },
  });
  // An extent that was loaded from afar lacks the small places.
  layer.on("prerender", ({ frameState }) => {
    const shown = most(frameState?.viewState.resolution ?? Infinity);
    if (shown > last) {
      last = shown;
      loaded.splice(0).forEach((extent) => source.removeLoadedExtent(extent));
      source.changed();
    }
  });
  return layer;
}

/** Metres; nearly once around. */
const ALMOST_ALL_AROUND = 35_000_000;

/** Islands across the antimeridian are drawn in the file as a line around the world: they are left out. */
function withoutWrapped(country: Feature): Feature {
  const geometry = country.getGeometry();
  if (geometry instanceof MultiPolygon && country.get("name") !== "Antarctica") {
    const polygons = geometry.getPolygons().filter((polygon) => getWidth(polygon.getExtent()) < ALMOST_ALL_AROUND);
    country.setGeometry(new MultiPolygon(polygons));
  }
  return country;
}

/** The countries of the world (Natural Earth 1:50m, public domain), fetched once for all maps. */
const loadCountries = keepLoaded(countriesUrl);

/** The same at 1:10m, five times as large. */
const loadDetailed = keepLoaded(detailedUrl);

function keepLoaded(url: string): () => Promise<readonly Feature[]> {
  let loaded: Promise<readonly Feature[]> | undefined;
  return () => {
    loaded ??= fetch(url)
      .then(async (response) => (await response.json()) as Topology<{ countries: GeometryCollection }>)
      .then((topology) =>
        new GeoJSON()
          .readFeatures(feature(topology, topology.objects.countries), { featureProjection: "EPSG:3857" })
          .map(withoutWrapped),
      );
    // Without it a map still shows what it is for; the next one asks again.
    loaded.catch(() => (loaded = undefined));
    return loaded;
  };
}
