import {
  COLORMAP_NAMES,
  type ColormapSpec,
  RESAMPLINGS,
  type Range,
  RasterError,
  TERRAIN_ALGORITHMS,
  compileExpression,
  parseColormap,
  toVariable,
} from "@swath/raster";
import { Problem } from "@swath/service";

import type { LayerStyle } from "../layers/layer.ts";

/** The extension that collections keep styles by: `renders` of STAC. */
export const RENDER_EXTENSION = "https://stac-extensions.github.io/render/v2.0.0/schema.json";
const MAX_STYLES = 100;
const MAX_BANDS = 4;
const MAX_TEXT = 2000;

type Fields = Readonly<Record<string, unknown>>;

/** Styles that a collection or item keeps in its `renders`. What cannot be shown is left out: somebody else may have written it. */
export function readStyles(renders: unknown): readonly LayerStyle[] {
  if (typeof renders !== "object" || renders === null || Array.isArray(renders)) {
    return [];
  }
  return Object.entries(renders)
    .slice(0, MAX_STYLES)
    .flatMap(([id, document]) => {
      try {
        return [parseStyle(id, document)];
      } catch {
        return [];
      }
    });
}

/**
 * A style of a render document: `title`, `assets`, `expression` (bands with `;` between them), `rescale`, `colormap_name`, `colormap`,
 * `color_formula`, `resampling`, and `algorithm` for hillshade and slope.
 * @throws {Problem} 400 that names the member at fault
 */
export function parseStyle(id: string, document: unknown): LayerStyle {
  if (!/^[\w.:-]{1,100}$/.test(id)) {
    throw new Problem(400, "The id of a style must have letters, digits, dots, colons, hyphens and underscores.");
  }
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new Problem(400, "A style must be a JSON object.");
  }
  const fields = document as Fields;
  const expressions = parseExpressions(fields);
  const rescale = parseRanges(fields["rescale"]);
  const colormap = parseColors(fields);
  const { algorithm, resampling, color_formula: formula } = fields;
  const gamma = typeof formula === "string" ? /gamma\s+\w+\s+([\d.]+)/i.exec(formula)?.[1] : undefined;
  const terrain = TERRAIN_ALGORITHMS.find((each) => each === algorithm);
  if (algorithm !== undefined && terrain === undefined) {
    throw new Problem(400, `algorithm must be one of ${TERRAIN_ALGORITHMS.join(", ")}.`);
  }
  const method = RESAMPLINGS.find((each) => each === resampling);
  return {
    id,
    title: typeof fields["title"] === "string" ? fields["title"].slice(0, 200) : id,
    expressions,
    isKept: true,
    ...(rescale !== undefined && { rescale }),
    ...(colormap !== undefined && { colormap }),
    ...(terrain !== undefined && { terrain }),
    ...(method !== undefined && { resampling: method }),
    ...(gamma !== undefined && Number(gamma) > 0 && { gamma: Number(gamma) }),
  };
}

/** The document of a style, as `parseStyle` reads it. */
export function toRenderDocument(style: LayerStyle): Fields {
  const { title, expressions, rescale, colormap, terrain, gamma, resampling } = style;
  const assets = [...new Set(expressions.flatMap((text) => [...compileExpression(text).variables]))];
  return {
    title,
    assets: assets.map((name) => name.replace(/_b\d+$/, "")).filter((name, at, all) => all.indexOf(name) === at),
    expression: expressions.join(";"),
    ...(rescale !== undefined && { rescale }),
    ...(colormap?.kind === "named" && { colormap_name: colormap.name }),
    ...(colormap !== undefined && colormap.kind !== "named" && { colormap: toColormapDocument(colormap) }),
    ...(terrain !== undefined && { algorithm: terrain }),
    ...(gamma !== undefined && { color_formula: `gamma RGB ${gamma}` }),
    ...(resampling !== undefined && { resampling }),
  };
}

function parseExpressions({ expression, assets }: Fields): readonly string[] {
  const list =
    typeof expression === "string" && expression.length <= MAX_TEXT
      ? expression
          .split(";")
          .map((part) => part.trim())
          .filter((part) => part !== "")
      : Array.isArray(assets)
        ? assets.filter((key): key is string => typeof key === "string").map(toVariable)
        : [];
  if (list.length === 0 || list.length > MAX_BANDS) {
    throw new Problem(400, `A style must have an expression or assets, of one to ${MAX_BANDS} bands.`);
  }
  try {
    list.forEach((text) => compileExpression(text));
  } catch (error) {
    throw error instanceof RasterError ? new Problem(400, `expression: ${error.message}`) : error;
  }
  return list;
}

function parseRanges(value: unknown): readonly Range[] | undefined {
  if (value === undefined) {
    return undefined;
  }
  const isRange = (each: unknown): each is Range =>
    Array.isArray(each) && each.length === 2 && each.every(Number.isFinite) && each[0] !== each[1];
  const ranges = isRange(value) ? [value] : Array.isArray(value) ? (value as unknown[]) : [];
  if (ranges.length === 0 || ranges.length > MAX_BANDS || !ranges.every(isRange)) {
    throw new Problem(400, "rescale must be a list of pairs [least, greatest].");
  }
  return ranges;
}

function parseColors({ colormap_name: name, colormap }: Fields): ColormapSpec | undefined {
  if (typeof name === "string") {
    if (!COLORMAP_NAMES.includes(name.toLowerCase().replace(/_r$/, ""))) {
      throw new Problem(400, `colormap_name must be one of ${COLORMAP_NAMES.join(", ")}, or one of them with _r.`);
    }
    return { kind: "named", name };
  }
  try {
    return colormap === undefined ? undefined : parseColormap(colormap);
  } catch (error) {
    throw error instanceof RasterError ? new Problem(400, `colormap: ${error.message}`) : error;
  }
}

function toColormapDocument(colormap: Exclude<ColormapSpec, { kind: "named" }>): unknown {
  return colormap.kind === "classes"
    ? Object.fromEntries(colormap.classes)
    : colormap.kind === "intervals"
      ? colormap.intervals.map(([from, to, color]) => [[from, to], color])
      : { stops: colormap.stops };
}
