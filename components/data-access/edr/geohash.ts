import type { Bbox } from "@swath/raster";

const ALPHABET = Array.from("0123456789bcdefghjkmnpqrstuvwxyz");
const BITS = 5;
/** Cells of 12 characters are 4 cm wide. */
const MAX_LENGTH = 12;

/** The cell of a geohash in degrees; `undefined` for text that is none. */
export function decodeGeohash(text: string): Bbox | undefined {
  const digits = Array.from(text.toLowerCase(), (character) => ALPHABET.indexOf(character));
  if (digits.length === 0 || digits.length > MAX_LENGTH || digits.includes(-1)) {
    return undefined;
  }
  let [west, south, east, north] = [-180, -90, 180, 90];
  digits
    .flatMap((digit) => Array.from({ length: BITS }, (_, bit) => (digit >> (BITS - 1 - bit)) & 1))
    .forEach((isUpper, at) => {
      // Longitude and latitude are halved in turn.
      if (at % 2 === 0) {
        const middle = (west + east) / 2;
        [west, east] = isUpper === 1 ? [middle, east] : [west, middle];
      } else {
        const middle = (south + north) / 2;
        [south, north] = isUpper === 1 ? [middle, north] : [south, middle];
      }
    });
  return [west, south, east, north];
}

/** Geohashes whose cells meet a box in degrees, of the greatest length that there are no more than `most` of. */
export function listGeohashes([west, south, east, north]: Bbox, most: number): readonly string[] {
  const meets = (text: string): boolean => {
    const cell = decodeGeohash(text)!;
    return cell[0] < east && cell[2] > west && cell[1] < north && cell[3] > south;
  };
  let cells: readonly string[] = [""];
  for (let length = 1; length <= MAX_LENGTH; length += 1) {
    const finer = cells.flatMap((cell) => ALPHABET.map((character) => cell + character)).filter(meets);
    if (finer.length > most || finer.length === 0) {
      break;
    }
    cells = finer;
  }
  return cells.filter((cell) => cell !== "");
}
