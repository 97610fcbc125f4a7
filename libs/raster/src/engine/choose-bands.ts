import { invalidRequest } from "../errors.ts";
import type { BandInfo } from "../readers/raster.ts";
import type { Scene, SceneAsset } from "./scene.ts";

type Selection = Pick<SceneAsset, "variable" | "position">;
type Place = string | number;

/**
 * Numbers (from 0) of the bands of a file that an asset is about, in their order: all, or those of one variable at one position.
 * @throws {RasterError} `invalid-request` where the file has no such variable
 */
export function chooseBands(bands: readonly BandInfo[], { variable, position = {} }: Selection): readonly number[] {
  const all = bands.map((_, band) => band);
  if (variable === undefined && Object.keys(position).length === 0) {
    return all;
  }
  let chosen = variable === undefined ? all : findNamed(bands, variable);
  if (chosen.length === 0) {
    const names = [...new Set(bands.flatMap(({ name }) => name ?? []))].slice(0, 50);
    throw invalidRequest(`There is no variable "${variable?.slice(0, 100)}"; there are ${names.join(", ") || "none"}.`);
  }
  for (const [dimension, requested] of Object.entries(position)) {
    const placeOf = (band: number) => bands[band]!.position?.[dimension];
    const places = [...new Set(chosen.flatMap((band) => placeOf(band) ?? []))];
    const place = choosePlace(places, requested);
    // A dimension that a variable does not have leaves it as it is.
    chosen = place === undefined ? chosen : chosen.filter((band) => placeOf(band) === place);
  }
  return chosen;
}

/** Expressions of all bands of an asset but transparency, which masks have. */
export function listDataBands(bands: readonly BandInfo[], selection: Selection): readonly string[] {
  return chooseBands(bands, selection).flatMap((band, at) => (bands[band]!.color === "alpha" ? [] : [`b${at + 1}`]));
}

/** By the whole name, else by its last part, else by that in any case: STAC items call a band B02 that products of EOPF call b02. */
function findNamed(bands: readonly BandInfo[], variable: string): readonly number[] {
  const last = (name = "") => name.split("/").at(-1) ?? "";
  const ways: readonly ((name: string | undefined) => boolean)[] = [
    (name) => name === variable,
    (name) => last(name) === variable,
    (name) => last(name).toLowerCase() === variable.toLowerCase(),
  ];
  for (const isNamed of ways) {
    const found = bands.flatMap(({ name }, band) => (isNamed(name) ? [band] : []));
    if (found.length > 0) {
      return found;
    }
  }
  return [];
}

/** The coordinate that is the wanted one, or else the nearest; of an interval (`a/b`) the last one within. */
function choosePlace(places: readonly Place[], requested: string): Place | undefined {
  const exact = places.find((place) => String(place) === requested);
  if (exact !== undefined || places.length === 0) {
    return exact;
  }
  const [from = requested, to] = requested.split("/");
  const [start, end] = [toValue(from), toValue(to ?? from)];
  const within = places.filter((place) => toValue(place) >= start && toValue(place) <= end);
  return (
    within.toSorted((a, b) => toValue(a) - toValue(b)).at(-1) ??
    places.reduce((best, place) => (Math.abs(toValue(place) - start) < Math.abs(toValue(best) - start) ? place : best))
  );
}

function toValue(place: Place): number {
  const number = Number(place);
  return typeof place === "number" || (place.trim() !== "" && Number.isFinite(number)) ? number : Date.parse(place);
}

/** The scene wherever its dimensions put it: what ranges are taken from, so that colours mean the same at all times and levels. */
export function withoutPosition({ assets }: Scene): Scene {
  return {
    assets: Object.fromEntries(
      Object.entries(assets).map(([key, asset]) => {
        const { position: _, ...anywhere } = asset;
        return [key, anywhere satisfies SceneAsset];
      }),
    ),
  };
}
