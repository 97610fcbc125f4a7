/** What the name of a raster that comes alone says, where an agency gives it a meaning. */
export interface KnownRaster {
  readonly collection: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface RasterName {
  readonly pattern: RegExp;
  readonly describe: (match: RegExpExecArray) => KnownRaster;
}

/** Arc seconds that tiles of the Copernicus DEM are named after, in metres. */
const METRES: ReadonlyMap<string, number> = new Map([
  ["10", 30],
  ["30", 90],
]);

const NAMES: readonly RasterName[] = [
  {
    // Copernicus_DSM_COG_10_N47_00_E009_00_DEM
    pattern: /^Copernicus_DSM_(?:COG_)?(10|30)_[NS]\d{2}_00_[EW]\d{3}_00(?:_DEM)?$/,
    describe: ([, spacing = ""]) => ({
      collection: `cop-dem-glo-${METRES.get(spacing)}`,
      properties: {
        // When the release came out; what it shows was measured from 2010-12-12 to 2015-01-16.
        datetime: "2021-04-22T00:00:00Z",
        platform: "tandem-x",
        gsd: METRES.get(spacing),
        providers: [
          { name: "ESA", roles: ["licensor"], url: "https://spacedata.copernicus.eu" },
          { name: "Airbus Defence and Space", roles: ["producer", "processor"] },
        ],
      },
    }),
  },
];

/** @param id name of the file without its ending */
export function findKnownRaster(id: string): KnownRaster | undefined {
  for (const { pattern, describe } of NAMES) {
    const match = pattern.exec(id);
    if (match !== null) {
      return describe(match);
    }
  }
  return undefined;
}
