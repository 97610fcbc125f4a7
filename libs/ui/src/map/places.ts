import placesUrl from "swath:places";

/** A town. */
export interface Place {
  readonly name: string;
  /** ISO 3166-1, two letters. */
  readonly country: string;
  readonly longitude: number;
  readonly latitude: number;
  /** 0 is the largest of the world. */
  readonly rank: number;
}

interface Columns {
  readonly names: readonly string[];
  readonly countries: string;
  readonly longitudes: readonly number[];
  readonly latitudes: readonly number[];
}

let loaded: Promise<readonly Place[]> | undefined;

/** The towns of the world, the largest first; fetched once. */
export function loadPlaces(): Promise<readonly Place[]> {
  loaded ??= fetch(placesUrl)
    .then(async (response) => (await response.json()) as Columns)
    .then(({ names, countries, longitudes, latitudes }) =>
      names.map((name, rank) => ({
        name,
        country: countries.slice(rank * 2, rank * 2 + 2),
        longitude: longitudes[rank] ?? 0,
        latitude: latitudes[rank] ?? 0,
        rank,
      })),
    );
  loaded.catch(() => (loaded = undefined));
  return loaded;
}

/** Accents and case do not count. */
const plain = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase();

/** Places whose names begin with a text, then those that contain it; the largest first. `51.2, 5.3` is a place of its own. */
export function findPlaces(places: readonly Place[], text: string, limit: number): readonly Place[] {
  const position = parsePosition(text);
  if (position !== undefined) {
    const [latitude, longitude] = position;
    return [{ name: `${latitude}, ${longitude}`, country: "", longitude, latitude, rank: 0 }];
  }
  const requested = plain(text.trim());
  if (requested.length < 2) {
    return [];
  }
  const first: Place[] = [];
  const others: Place[] = [];
  for (const place of places) {
    const name = plain(place.name);
    if (name.startsWith(requested)) {
      first.push(place);
    } else if (others.length < limit && name.includes(requested)) {
      others.push(place);
    }
    if (first.length === limit) {
      break;
    }
  }
  return [...first, ...others].slice(0, limit);
}

/** Latitude and longitude in degrees, as people write them. */
function parsePosition(text: string): readonly [number, number] | undefined {
  const match = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  const [latitude, longitude] = [Number(match?.[1]), Number(match?.[2])];
  return match !== null && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? [latitude, longitude] : undefined;
}
