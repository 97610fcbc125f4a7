import type Feature from "ol/Feature.js";
import GeoJSON from "ol/format/GeoJSON.js";
import Graticule from "ol/layer/Graticule.js";
import VectorLayer from "ol/layer/Vector.js";
import VectorSource from "ol/source/Vector.js";
import Fill from "ol/style/Fill.js";
import Stroke from "ol/style/Stroke.js";
import Style from "ol/style/Style.js";
import Text from "ol/style/Text.js";
import { feature } from "topojson-client";
import type { GeometryCollection, Topology } from "topojson-specification";
import detailedUrl from "world-atlas/countries-10m.json?url";
import countriesUrl from "world-atlas/countries-50m.json?url";

/** Where the shapes of countries are from; shown in the corner of every map. */
const ATTRIBUTION = "Natural Earth";

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
export function createBaseLayers(scheme: MapScheme): readonly [VectorLayer, Graticule] {
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
  void loadCountries().then((countries) => {
    if (!isDetailed) {
      show(countries);
    }
  });
  const countries = new VectorLayer({
    source,
    declutter: true,
    style: (country, resolution) => {
      if (resolution > 20_000) {
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

/** The countries of the world (Natural Earth 1:50m, public domain), fetched once for all maps. */
const loadCountries = keepLoaded(countriesUrl);

/** The same at 1:10m, five times as large. */
const loadDetailed = keepLoaded(detailedUrl);

function keepLoaded(url: string): () => Promise<readonly Feature[]> {
  let loaded: Promise<readonly Feature[]> | undefined;
  return () => {
    loaded ??= fetch(url)
      .then(async (answer) => (await answer.json()) as Topology<{ countries: GeometryCollection }>)
      .then((topology) =>
        new GeoJSON().readFeatures(feature(topology, topology.objects.countries), { featureProjection: "EPSG:3857" }),
      );
    // Without it a map still shows what it is for; the next one asks again.
    loaded.catch(() => (loaded = undefined));
    return loaded;
  };
}
