import { type Range, toVariable } from "@swath/raster";
import type { StacAsset, StacItem } from "@swath/stac";

import { isCubeAsset, variablesOf } from "../layers/cube.ts";
import type { LayerStyle } from "../layers/layer.ts";

interface Band {
  /** As expressions call it. */
  readonly name: string;
  readonly commonName: string | undefined;
  readonly title: string;
  readonly type: string | undefined;
  readonly scale: number | undefined;
  readonly unit: string | undefined;
  /** Of a file of many variables. */
  readonly isVariable?: true;
}

const RASTER_TYPES = /image\/(tiff|jp2|vnd\.stac\.geotiff)/;
/** Reflectance at which most land is bright. */
const BRIGHT = 0.3;
const DECIBELS: Range = [-25, 0];
/** Values of an index between bands that pictures tell apart. */
const INDEX_RANGE: Range = [-0.2, 0.9];
/** Bands that hold an index by their name, as results of processing do, and the colours that people know it by. */
const INDEX_COLORS: readonly (readonly [RegExp, string])[] = [
  [/(^|[^a-z])(ndvi|gndvi|evi2?|savi|msavi|ndre)([^a-z]|$)/i, "rdylgn"],
  [/(^|[^a-z])(m?ndwi|ndsi|ndmi)([^a-z]|$)/i, "blues"],
];

export function isRasterAsset(asset: StacAsset): boolean {
  const { type, href } = asset;
  return (type === undefined ? /\.(tiff?|jp2)$/i.test(href) : RASTER_TYPES.test(type)) || isCubeAsset(asset);
}

/** The pictures that people expect of an item's bands: true colour first, then false colour, indices, and each band. */
export function makeStyles(item: StacItem): readonly LayerStyle[] {
  const bands = Object.entries(item.assets).flatMap(([key, asset]) =>
    isRasterAsset(asset) ? (isCubeAsset(asset) ? toVariables(key, asset, item) : toBands(key, asset)) : [],
  );
  const byName = (name: string) => bands.find((band) => band.commonName === name || band.name.toLowerCase() === name);
  const [red, green, blue, nir, swir] = [
    byName("red"),
    byName("green"),
    byName("blue"),
    byName("nir") ?? byName("nir08"),
    byName("swir16"),
  ];
  const styles: LayerStyle[] = [];
  const compose = (id: string, title: string, parts: readonly (Band | undefined)[]) => {
    if (parts.every((part) => part !== undefined)) {
      const scale = parts[0]?.scale;
      styles.push({
        id,
        title,
        expressions: parts.map(({ name }) => name),
        ...(scale !== undefined && scale > 0 && scale < 1 && { rescale: [[0, BRIGHT / scale] as const] }),
      });
    }
  };
  const index = (id: string, title: string, a: Band | undefined, b: Band | undefined, colors: string) => {
    if (a !== undefined && b !== undefined) {
      styles.push({
        id,
        title,
        expressions: [`(${a.name} - ${b.name}) / (${a.name} + ${b.name})`],
        rescale: [INDEX_RANGE],
        colormap: { kind: "named", name: colors },
      });
    }
  };
  compose("true-color", "True colour", [red, green, blue]);
  compose("false-color", "False colour (near infrared, red, green)", [nir, red, green]);
  compose("short-wave", "Short-wave infrared, near infrared, red", [swir, nir, red]);
  index("ndvi", "Vegetation index (NDVI)", nir, red, "rdylgn");
  index("ndwi", "Water index (NDWI)", green, nir, "blues");
  for (const band of bands) {
    if (band.unit === "m" && /elevation|dem|data/i.test(`${band.name} ${band.title}`)) {
      styles.push({ id: "hillshade", title: "Hillshade", expressions: [band.name], terrain: "hillshade" });
      styles.push({
        id: "elevation",
        title: "Elevation",
        expressions: [band.name],
        colormap: { kind: "named", name: "terrain" },
      });
    }
    styles.push({
      id: band.name,
      title: band.title,
      expressions: [band.name],
      ...(band.isVariable === true && { colormap: { kind: "named", name: "viridis" } as const }),
      ...(band.unit === "dB" && { rescale: [DECIBELS] }),
      ...toIndexLook(band),
      ...(band.scale !== undefined &&
        band.scale > 0 &&
        band.scale < 1 && { rescale: [[0, BRIGHT / band.scale] as const] }),
    });
  }
  return styles.filter(({ id }, at) => styles.findIndex((other) => other.id === id) === at);
}

/** Whole numbers without a scale are counts or classes, whatever they are called. */
function toIndexLook({ name, title, type, scale }: Band): Pick<LayerStyle, "rescale" | "colormap"> | undefined {
  const colors = INDEX_COLORS.find(([pattern]) => pattern.test(name) || pattern.test(title))?.[1];
  return colors === undefined || type?.startsWith("float") !== true || scale !== undefined
    ? undefined
    : { rescale: [INDEX_RANGE], colormap: { kind: "named", name: colors } };
}

/** Variables that the item describes; the file's first one where it describes none. */
function toVariables(key: string, asset: StacAsset, item: StacItem): readonly Band[] {
  const shared = { scale: undefined, isVariable: true } as const;
  const variables = variablesOf(key, asset, item);
  return variables.length === 0
    ? [
        {
          ...shared,
          commonName: undefined,
          name: toVariable(key),
          title: asset.title ?? key,
          type: undefined,
          unit: undefined,
        },
      ]
    : variables.map(({ expression, title, unit, type, commonName }) => ({
        ...shared,
        commonName,
        name: expression,
        title,
        unit,
        type,
      }));
}

interface BandFields {
  readonly name?: unknown;
  readonly common_name?: unknown;
  readonly "eo:common_name"?: unknown;
  readonly data_type?: unknown;
  readonly scale?: unknown;
  readonly "raster:scale"?: unknown;
  readonly unit?: unknown;
}

/** Bands of an asset by STAC 1.1 `bands`, or `eo:bands` and `raster:bands` of the versions before. */
function toBands(key: string, asset: StacAsset): readonly Band[] {
  const list = (name: string): readonly BandFields[] =>
    Array.isArray(asset[name]) ? (asset[name] as BandFields[]) : [];
  const [common, eo, raster] = [list("bands"), list("eo:bands"), list("raster:bands")];
  const count = Math.max(1, common.length, eo.length, raster.length);
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return Array.from({ length: Math.min(count, 64) }, (_, at) => {
    const fields = { ...raster[at], ...eo[at], ...common[at] };
    const scale = fields.scale ?? fields["raster:scale"];
    const name = toVariable(key);
    return {
      name: count === 1 ? name : `${name}_b${at + 1}`,
      commonName: text(fields["eo:common_name"] ?? fields.common_name),
      title: count === 1 ? (asset.title ?? key) : `${asset.title ?? key}: ${text(fields.name) ?? at + 1}`,
      type: text(fields.data_type),
      scale: typeof scale === "number" ? scale : undefined,
      unit: text(fields.unit),
    };
  });
}
