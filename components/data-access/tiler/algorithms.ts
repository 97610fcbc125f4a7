import { type ImageRequest, TERRAIN_ALGORITHMS, type TerrainAlgorithm, compileExpression } from "@swath/raster";
import { Problem } from "@swath/service";

/** A calculation of `algorithm`, by the names that today's tilers have. */
export interface Algorithm {
  readonly title: string;
  readonly description: string;
  /** Number of bands; any when left out. */
  readonly inputs?: number;
  readonly outputs: number;
  /** Of the bands; left out where neighbours of a pixel count as well. */
  readonly toExpressions?: (bands: readonly string[]) => readonly string[];
  /** What the results are: bytes, or shown between two values. */
  readonly range?: { readonly isBytes: boolean; readonly shown: readonly [number, number] };
}

const inside = (band: string) => (/^\w+$/.test(band) ? band : `(${band})`);
const BYTES = { isBytes: true, shown: [0, 255] } as const;
const low = (value: string) => `(floor(${value})-256*floor((${value})/256))`;

const acrossBands = (title: string, toText: (bands: readonly string[]) => string): Algorithm => ({
  title,
  description: `${title} of the bands of each pixel.`,
  outputs: 1,
  toExpressions: (bands) => [toText(bands.map(inside))],
});

export const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map(
  Object.entries<Algorithm>({
    hillshade: { title: "Hillshade", description: "Shading of elevations.", inputs: 1, outputs: 1 },
    slope: { title: "Slope", description: "Slope of elevations in degrees.", inputs: 1, outputs: 1 },
    normalizedIndex: {
      title: "Normalized difference",
      description: "(b2 - b1) / (b2 + b1)",
      inputs: 2,
      outputs: 1,
      toExpressions: ([first = "", second = ""]) => {
        const [a, b] = [inside(first), inside(second)];
        return [`(${b} - ${a}) / (${b} + ${a})`];
      },
      range: { isBytes: false, shown: [-1, 1] },
    },
    terrarium: {
      title: "Terrarium",
      description: "Elevations as colours, as Mapzen's terrain tiles: red * 256 + green + blue / 256 - 32768.",
      inputs: 1,
      outputs: 3,
      toExpressions: ([band = ""]) => {
        const value = `clamp(${inside(band)}+32768,0,65535)`;
        return [`floor(${value}/256)`, low(value), low(`${value}*256`)];
      },
      range: BYTES,
    },
    terrainrgb: {
      title: "Terrain RGB",
      description: "Elevations as colours, as Mapbox's terrain tiles: (red * 65536 + green * 256 + blue) / 10 - 10000.",
      inputs: 1,
      outputs: 3,
      toExpressions: ([band = ""]) => {
        const value = `round((${inside(band)}+10000)*10)`;
        return [low(`${value}/65536`), low(`${value}/256`), low(value)];
      },
      range: BYTES,
    },
    min: acrossBands("Minimum", (bands) => `min(${bands.join(",")})`),
    max: acrossBands("Maximum", (bands) => `max(${bands.join(",")})`),
    sum: acrossBands("Sum", (bands) => bands.join("+")),
    mean: acrossBands("Mean", (bands) => `(${bands.join("+")})/${bands.length}`),
  }),
);

/** @throws {Problem} 400 for a name that is none */
export function parseAlgorithm(name: string | undefined): Algorithm | undefined {
  const found = name === undefined ? undefined : ALGORITHMS.get(name);
  if (name !== undefined && found === undefined) {
    throw new Problem(400, `algorithm must be one of ${[...ALGORITHMS.keys()].join(", ")}.`);
  }
  return found;
}

/**
 * Expressions of values alone: calculations that look at neighbours are pictures.
 * @throws {Problem} 400
 */
export function calculateValues(name: string | undefined, bands: readonly string[]): readonly string[] {
  const { expressions, terrain } = applyAlgorithm(name, bands);
  if (terrain !== undefined) {
    throw new Problem(400, `${name} is drawn in pictures and tiles only; it has no values here.`);
  }
  return expressions;
}

/**
 * What a request for an algorithm shows of the bands.
 * @throws {Problem} 400 for another number of bands than it takes
 */
export function applyAlgorithm(
  name: string | undefined,
  bands: readonly string[],
): Pick<ImageRequest, "terrain" | "rescale"> & { readonly expressions: readonly string[]; readonly isBytes: boolean } {
  const algorithm = parseAlgorithm(name);
  if (algorithm === undefined) {
    return { expressions: bands, isBytes: false };
  }
  if (algorithm.inputs !== undefined && algorithm.inputs !== bands.length) {
    throw new Problem(
      400,
      `${name} takes ${algorithm.inputs} bands, not ${bands.length}: choose them with bidx or assets.`,
    );
  }
  const { toExpressions, range } = algorithm;
  if (toExpressions === undefined) {
    const terrain = TERRAIN_ALGORITHMS.find((each): each is TerrainAlgorithm => each === name);
    return { expressions: bands, isBytes: false, ...(terrain !== undefined && { terrain: { algorithm: terrain } }) };
  }
  const expressions = toExpressions(bands);
  for (const expression of expressions) {
    compileExpression(expression);
  }
  return { expressions, isBytes: range?.isBytes ?? false, ...(range !== undefined && { rescale: [range.shown] }) };
}
