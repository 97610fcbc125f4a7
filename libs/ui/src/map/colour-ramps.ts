/** Colours from the lowest to the highest value, as red, green and blue. */
export interface ColourRamp {
  readonly name: string;
  readonly label: string;
  readonly colours: readonly (readonly [number, number, number])[];
}

export const RAMPS: readonly ColourRamp[] = [
  {
    name: "vegetation",
    label: "Vegetation",
    colours: [
      [158, 98, 44],
      [215, 200, 165],
      [226, 222, 130],
      [126, 180, 74],
      [40, 120, 45],
      [8, 66, 22],
    ],
  },
  {
    name: "water",
    label: "Water",
    colours: [
      [240, 235, 220],
      [190, 215, 225],
      [105, 170, 205],
      [35, 105, 170],
      [8, 45, 107],
    ],
  },
  {
    name: "viridis",
    label: "Viridis",
    colours: [
      [68, 1, 84],
      [59, 82, 139],
      [33, 145, 140],
      [94, 201, 98],
      [253, 231, 37],
    ],
  },
  {
    name: "heat",
    label: "Heat",
    colours: [
      [0, 0, 4],
      [87, 16, 110],
      [188, 55, 84],
      [249, 142, 9],
      [252, 255, 164],
    ],
  },
  {
    name: "grey",
    label: "Grey",
    colours: [
      [0, 0, 0],
      [255, 255, 255],
    ],
  },
];

/** The ramp of that name, or the one that fits what a band is called. */
export function suggestRamp(name: string): ColourRamp {
  const named = RAMPS.find((ramp) => ramp.name === name);
  if (named !== undefined) {
    return named;
  }
  const requested = /ndvi|evi|savi|vegetation/i.test(name)
    ? "vegetation"
    : /ndwi|water/i.test(name)
      ? "water"
      : /^(red|green|blue|nir|swir|b\d+a?|panchromatic|vv|vh)$/i.test(name)
        ? "grey"
        : "viridis";
  return RAMPS.find((ramp) => ramp.name === requested) ?? (RAMPS[0] as ColourRamp);
}

/** The colour of a share from 0 to 1 of a ramp. */
export function colourAt({ colours }: ColourRamp, share: number): readonly [number, number, number] {
  const place = Math.min(1, Math.max(0, share)) * (colours.length - 1);
  const [lower, upper] = [colours[Math.floor(place)], colours[Math.ceil(place)]];
  const part = place - Math.floor(place);
  return [0, 1, 2].map((index) => {
    const [from, to] = [lower?.[index] ?? 0, upper?.[index] ?? 0];
    return Math.round(from + (to - from) * part);
  }) as unknown as readonly [number, number, number];
}

/** The ramp as a CSS background, from left to right. */
export const toGradient = ({ colours }: ColourRamp): string =>
  `linear-gradient(to right, ${colours.map(([red, green, blue]) => `rgb(${red} ${green} ${blue})`).join(", ")})`;
