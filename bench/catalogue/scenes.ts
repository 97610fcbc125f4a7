interface SceneOptions {
  /** Number of the first scene; a scene of a number is always the same. */
  readonly from: number;
  readonly count: number;
  /** Number that the first scene has in its id; 0 when left out. */
  readonly firstId?: number;
}

const BANDS = ["B02", "B03", "B04", "B08", "SCL"];
const DAY = 86_400_000;
const FIRST = Date.UTC(2016, 0, 1);

/** Synthetic scenes of a square degree and about 1.5 KB, spread over the Earth and eight years: a STAC item a line. */
export function* makeSceneLines({ from, count, firstId = 0 }: SceneOptions): Generator<string> {
  for (let index = from; index < from + count; index += 1) {
    yield `${JSON.stringify(makeScene(index, firstId + index - from))}\n`;
  }
}

function makeScene(index: number, within: number): object {
  const id = index >= 50_000_000 ? `single-${index}` : `scene-${within}`;
  const west = Math.floor(random(index, 1) * 358_000) / 1000 - 179;
  const south = Math.floor(random(index, 2) * 140_000) / 1000 - 70;
  const datetime = new Date(FIRST + Math.floor(random(index, 3) * 8 * 365 * DAY)).toISOString();
  const [east, north] = [west + 1, south + 1];
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: ["https://stac-extensions.github.io/eo/v1.1.0/schema.json"],
    id,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [west, south],
          [east, south + 0.02],
          [east - 0.02, north],
          [west, north - 0.02],
          [west, south],
        ],
      ],
    },
    bbox: [west, south, east, north],
    properties: {
      datetime,
      "eo:cloud_cover": Math.floor(random(index, 4) * 10_000) / 100,
      platform: index % 2 === 0 ? "sentinel-2a" : "sentinel-2b",
      constellation: "sentinel-2",
      instruments: ["msi"],
      gsd: 10,
      title: `Scene tile${index % 1000} of orbit ${index % 143}`,
      "view:sun_elevation": Math.floor(random(index, 5) * 9000) / 100,
    },
    links: [],
    assets: Object.fromEntries(
      BANDS.map((band) => [
        band,
        {
          href: `s3://eodata/scenes/${index}/${band}.tif`,
          type: "image/tiff; application=geotiff; profile=cloud-optimized",
          title: `Band ${band}`,
          roles: ["data"],
        },
      ]),
    ),
  };
}

/** A number from 0 to 1 that is always the same of the same. */
function random(index: number, salt: number): number {
  let value = (index * 2_654_435_761 + salt * 40_503) >>> 0;
  value = Math.imul(value ^ (value >>> 15), 2_246_822_519) >>> 0;
  value = Math.imul(value ^ (value >>> 13), 3_266_489_917) >>> 0;
  return ((value ^ (value >>> 16)) >>> 0) / 4_294_967_296;
}
