import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";

import { File, ready } from "h5wasm";
import { type AbsolutePath, create, root, set } from "zarrita";

/** Every ten degrees, cells around the coordinates. */
const LATITUDES = Array.from({ length: 18 }, (_, at) => -85 + at * 10);
const TIMES = 3;
const LEVELS = [850, 500];
const SCALE = 0.01;

/** What `tas` is at a time and level (their numbers), in the cell of a point. */
export function valueAt(time: number, level: number, x: number, y: number): number {
  const cell = (value: number) => Math.floor(value / 10) * 10 + 5;
  return 100 + 50 * time + 20 * level + cell(x) / 10 + cell(y) / 10;
}

const longitudesFrom = (west: number) => Array.from({ length: 36 }, (_, at) => west + 5 + at * 10);
const toEast = (x: number) => (x > 180 ? x - 360 : x);

function valuesOf(longitudes: readonly number[], hasLevels: boolean): number[] {
  return Array.from({ length: TIMES }, (_, time) =>
    (hasLevels ? LEVELS : [0]).flatMap((_level, level) =>
      LATITUDES.flatMap((y) => longitudes.map((x) => valueAt(time, level, toEast(x), y))),
    ),
  ).flat();
}

/** A NetCDF-4 file: `tas` of three days at two levels, packed; `wind` of three days. `filler`: megabytes that nobody reads. */
export async function makeClimateHdf5(path: string, filler = 0, west = -180): Promise<void> {
  const { FS } = await ready;
  const longitudes = longitudesFrom(west);
  const file = new File("/climate.nc", "w");
  file.create_attribute("Conventions", "CF-1.8");
  const scale = (name: string, data: Float64Array, attributes: Readonly<Record<string, string>>) => {
    const dataset = file.create_dataset({ name, data, shape: [data.length] });
    dataset.make_scale(name);
    Object.entries(attributes).forEach(([key, value]) => dataset.create_attribute(key, value));
  };
  scale(
    "time",
    Float64Array.from({ length: TIMES }, (_, at) => at),
    { units: "days since 2020-01-01" },
  );
  scale("level", Float64Array.from(LEVELS), { units: "hPa" });
  scale("lat", Float64Array.from(LATITUDES), { units: "degrees_north" });
  scale("lon", Float64Array.from(longitudes), { units: "degrees_east" });
  const tas = file.create_dataset({
    name: "tas",
    data: Int16Array.from(valuesOf(longitudes, true), (value) => Math.round(value / SCALE) - 20_000),
    shape: [TIMES, LEVELS.length, LATITUDES.length, longitudes.length],
    chunks: [2, 1, 9, 12],
    compression: "gzip",
  });
  tas.create_attribute("scale_factor", SCALE);
  tas.create_attribute("add_offset", 200);
  tas.create_attribute("units", "K");
  ["time", "level", "lat", "lon"].forEach((name, at) => tas.attach_scale(at, `/${name}`));
  const wind = file.create_dataset({
    name: "wind",
    data: Float64Array.from(valuesOf(longitudes, false), (value) => value / 10),
    shape: [TIMES, LATITUDES.length, longitudes.length],
  });
  ["time", "lat", "lon"].forEach((name, at) => wind.attach_scale(at, `/${name}`));
  if (filler > 0) {
    file.create_dataset({ name: "zfiller", data: new Uint8Array(filler * 2 ** 20), shape: [filler * 2 ** 20] });
  }
  file.close();
  writeFileSync(path, (FS as unknown as { readFile: (name: string) => Uint8Array }).readFile("/climate.nc"));
}

/** The same as Zarr of version 3 with consolidated metadata. */
export async function makeClimateZarr(folder: string): Promise<void> {
  const longitudes = longitudesFrom(-180);
  const store = new Map<string, Uint8Array>();
  const group = root(store);
  const add = async (
    name: string,
    data: Float64Array,
    shape: number[],
    dimensions: string[],
    attributes: Record<string, unknown>,
    chunks = shape,
  ) => {
    const array = await create(group.resolve(name), {
      dtype: "float64",
      shape,
      chunkShape: chunks,
      dimensionNames: dimensions,
      attributes,
    } as never);
    const stride = shape.map((_, at) => shape.slice(at + 1).reduce((a, b) => a * b, 1));
    await set(array as never, null, { data, shape, stride } as never);
  };
  const list = (values: readonly number[]) => Float64Array.from(values);
  await add("time", list([0, 1, 2]), [TIMES], ["time"], { units: "days since 2020-01-01" });
  await add("level", list(LEVELS), [LEVELS.length], ["level"], { units: "hPa" });
  await add("lat", list(LATITUDES), [LATITUDES.length], ["lat"], { units: "degrees_north" });
  await add("lon", list(longitudes), [longitudes.length], ["lon"], { units: "degrees_east" });
  const size = [LATITUDES.length, longitudes.length];
  await add(
    "tas",
    list(valuesOf(longitudes, true)),
    [TIMES, LEVELS.length, ...size],
    ["time", "level", "lat", "lon"],
    { units: "K" },
    [2, 1, 9, 12],
  );
  await add(
    "wind",
    list(valuesOf(longitudes, false).map((value) => value / 10)),
    [TIMES, ...size],
    ["time", "lat", "lon"],
    {},
  );
  const documents = [...store].filter(([key]) => key.endsWith("/zarr.json"));
  const metadata = Object.fromEntries(
    documents.map(([key, bytes]) => [
      key.replace(/^\//, "").replace(/\/zarr\.json$/, ""),
      JSON.parse(Buffer.from(bytes).toString()) as unknown,
    ]),
  );
  store.set(
    "/zarr.json" satisfies AbsolutePath,
    Buffer.from(
      JSON.stringify({
        zarr_format: 3,
        node_type: "group",
        attributes: { title: "climate" },
        consolidated_metadata: { kind: "inline", must_understand: false, metadata },
      }),
    ),
  );
  for (const [key, bytes] of store) {
    const path = join(folder, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }
}

/** Serves a folder by ranges on the loopback. */
export async function serveFolder(
  t: TestContext,
  folder: string,
): Promise<{ url: string; requests: { path: string; bytes: number }[] }> {
  const requests: { path: string; bytes: number }[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "", "http://x").pathname;
    try {
      const whole = readFileSync(join(folder, decodeURIComponent(path)));
      const [, from = 0, to = 0] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "")?.map(Number) ?? [];
      const body = whole.subarray(from, to + 1);
      requests.push({ path, bytes: body.length });
      response.writeHead(206, { "content-range": `bytes ${from}-${from + body.length - 1}/${whole.length}` }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
