import { Problem } from "@swath/service";

import type { Layer, LayerDimension } from "./layer.ts";

const MAX_VALUE_CHARACTERS = 100;
const MAX_LISTED = 50;

/** Coordinates in a layer's dimensions, by their names. */
export type Position = Readonly<Record<string, string>>;

/** A dimension or value that a layer does not have. */
export class PositionError extends Problem {
  /** The parameter that it came by. */
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super(400, message);
    this.parameter = parameter;
  }
}

/** The parameter of a dimension of files in OGC web services: their time is the layer's. */
export function parameterOf({ name, kind }: Pick<LayerDimension, "name" | "kind">): string {
  return kind === "time" ? "TIME" : kind === "elevation" ? "ELEVATION" : `DIM_${name.toUpperCase()}`;
}

/** Dimensions beside the time, which layers have a parameter of their own for. */
export const placesOf = ({ dimensions = [] }: Pick<Layer, "dimensions">): readonly LayerDimension[] =>
  dimensions.filter(({ kind }) => kind !== "time");

/**
 * ELEVATION and DIM_<name> (annex C of WMS 1.3.0; WMTS has the same names), of the dimensions that layers have.
 * @throws {PositionError} for values that there are not
 */
export function readPosition(
  layers: readonly Pick<Layer, "dimensions">[],
  get: (parameter: string) => string | undefined,
): Position {
  return Object.fromEntries(
    layers.flatMap(placesOf).flatMap((dimension) => {
      const parameter = parameterOf(dimension);
      const value = get(parameter)?.trim();
      return value === undefined || value === "" ? [] : [[dimension.name, choose(dimension, value, parameter)]];
    }),
  );
}

/**
 * `level(500)` and `level("500")`, as OGC API Maps has them; `level=500`, as tilers have them. The time has a parameter of its own.
 * @throws {PositionError} for dimensions and values that there are not
 */
export function parsePosition(texts: readonly string[], layer: Pick<Layer, "dimensions">, parameter: string): Position {
  const places = placesOf(layer);
  return Object.fromEntries(
    texts.map((text) => {
      const [, name = "", called, equal] =
        /^\s*([^(),=]+?)\s*(?:\(\s*"?([^"(),:]+)"?\s*\)|=\s*(.+))\s*$/.exec(text) ?? [];
      const value = called ?? equal;
      const dimension = places.find((each) => each.name.toLowerCase() === name.toLowerCase());
      if (dimension === undefined || value === undefined) {
        const known = places.map((each) => each.name).join(", ");
        throw new PositionError(
          parameter,
          `${parameter} must name one value of a dimension, as in level(500); ${known === "" ? "the layer has no dimensions" : `there are ${known}`}.`,
        );
      }
      return [dimension.name, choose(dimension, value.trim(), dimension.name)];
    }),
  );
}

function choose({ values }: LayerDimension, value: string, parameter: string): string {
  const known = values.find((each) => each === value || Number(each) === Number(value));
  if (known === undefined && values.length > 0) {
    throw new PositionError(
      parameter,
      `${parameter} must be one of ${values.slice(0, MAX_LISTED).join(", ")}${values.length > MAX_LISTED ? ", …" : ""}.`,
    );
  }
  return known ?? value.slice(0, MAX_VALUE_CHARACTERS);
}
