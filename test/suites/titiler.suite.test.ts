// The requests that TiTiler's own tests of its factories make, recorded with their answers and made to this service. Nothing of theirs is
// kept here. Clone github.com/developmentseed/titiler, and name a Python that has titiler.core with what its tests need:
//
//     TITILER_FOLDER=~/titiler TITILER_PYTHON=~/venv/bin/python npm run test:suites -- titiler
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { start } from "../../components/data-access/test/fixture.ts";
import {
  type Answer,
  compareKinds,
  compareValues,
  meanOf,
  readArray,
} from "../../components/data-access/test/titiler-answers.ts";
import { parseCrs } from "../../libs/raster/src/index.ts";
import { compareBand, warpWithGdal } from "../../libs/raster/test/compare-warps.ts";
import { gdalSkipReason } from "../../libs/raster/test/gdal.ts";

// oxlint-disable-next-line node/no-process-env -- where the clone and its Python are is the caller's to say
const { TITILER_FOLDER: clone = "", TITILER_PYTHON: python = "python3", TITILER_RECORD: kept } = process.env;
const core = join(clone, "src/titiler/core");
/** Shares that were reached once; less is a loss. */
const LEAST = { kinds: 0.96, values: 0.95 };
/** Tests of applications that their authors changed: logins, options of GDAL, colour maps of their own. */
const CUSTOM =
  /WithDepend|WithGdalEn|path_param|optional_headers|cog_custom|colorMaps\/(cust|negative|seq)|openapi|\/docs/;

/**
 * Tiles of values that differ from TiTiler's for a reason; each must be what gdalwarp makes of the file.
 *
 * - `8/87/48` of `cog.tif`: a pixel of the tile is 1.71 pixels of the file wide. TiTiler warps to the file's resolution (446² pixels) and lets
 *   GDAL reduce that to 256², which takes the overview of half the resolution. Ours has the full one, as gdalwarp: 12 % of the values differ.
 */
const KNOWN = /^\/tiles\/WebMercatorQuad\/(8)\/(87)\/(48)\.npy$/;

/** Requests whose answers differ for a reason, by method, path and parameters without the address of the file. */
const EXCEPTIONS: readonly (readonly [RegExp, string])[] = [
  [
    /^GET \/(info|preview\.tif|statistics) $|^POST \/statistics $/,
    "an item without assets has a first style here, where TiTiler refuses it",
  ],
  [
    /^GET \/preview\.png .*max_size=256&height=512&width=512/,
    "two sizes contradict each other: refused, where TiTiler ignores max_size",
  ],
];
/**
 * Pictures of an area without a range, which TiTiler draws nearly black: its own statistics say that the values there are 3,624 of 65,535 on
 * average, in bytes 14. Ours are compared with that.
 */
const DARK = /^\/feature(\/100x100\.jpeg)?$/;
const MEAN_OF_AREA = 3624.348;
const HALF_WORLD = 20_037_508.342_789_244;

interface Recorded extends Answer {
  readonly test: string;
  readonly method: string;
  readonly url: string;
  readonly accept: string;
  readonly body: string;
}

const folder = mkdtempSync(join(tmpdir(), "swath-titiler-"));
after(() => rmSync(folder, { recursive: true }));
const skip =
  gdalSkipReason() ||
  (clone !== "" && existsSync(join(core, "tests/test_factories.py"))
    ? spawnSync(python, ["-c", "import titiler.core, pytest"]).status === 0
      ? false
      : `needs a Python with titiler.core and pytest: TITILER_PYTHON (${python} has none)`
    : "needs a clone of github.com/developmentseed/titiler in the folder that TITILER_FOLDER names");

test("requests of TiTiler's own tests get the answers that TiTiler gives", { skip }, async (t) => {
  const recorded = record().filter(({ test: name, url }) => !CUSTOM.test(`${name} ${new URL(url).pathname}`));
  const data = join(folder, "data");
  cpSync(join(core, "tests/fixtures"), data, { recursive: true });
  const { id, collection } = addCatalogue(data);
  const { url: own, files: host } = await start(t, {}, data);
  let [kinds, values, known, excepted, total] = [0, 0, 0, 0, 0];
  for (const request of recorded) {
    const address = toOwn(withRange(request), own, host, `/collections/${collection}/items/${id}`);
    total += 1;
    const response = await fetch(address, {
      method: request.method,
      headers: { accept: request.accept, ...(request.method === "POST" && { "content-type": "application/json" }) },
      ...(request.method === "POST" && { body: request.body }),
    });
    const answer: Answer = {
      status: response.status,
      type: response.headers.get("content-type") ?? "",
      answer: Buffer.from(await response.arrayBuffer()).toString("base64"),
    };
    const kind = compareKinds(answer, request);
    const value = kind === undefined ? await compareValues(answer, request, folder) : undefined;
    kinds += kind === undefined ? 1 : 0;
    values += kind === undefined && value === undefined ? 1 : 0;
    const difference = kind ?? value;
    if (difference !== undefined) {
      const { pathname, searchParams } = new URL(request.url);
      if (kind === undefined && KNOWN.test(pathname)) {
        assert.deepEqual(compareWithGdal(answer, new URL(request.url)), { different: 0, missing: 0 }, request.url);
        known += 1;
        continue;
      }
      if (kind === undefined && DARK.test(pathname)) {
        assert.ok(Math.abs((await meanOf(answer)) - (MEAN_OF_AREA * 255) / 65_535) < 0.5, request.url);
        known += 1;
        continue;
      }
      searchParams.delete("url");
      const name = `${request.method} ${pathname} ${searchParams.toString().slice(0, 100)}`;
      const reason = EXCEPTIONS.find(([pattern]) => pattern.test(name))?.[1];
      excepted += reason === undefined ? 0 : 1;
      t.diagnostic(`${name}: ${reason ?? difference.slice(0, 200)}`);
    }
  }
  t.diagnostic(
    `${total} requests: ${kinds} have the same kind of answer, ${values} the same values, ${known} others that are gdalwarp's or those of TiTiler's statistics, ${excepted} differ for a reason`,
  );
  const right = values + known;
  assert.ok(kinds / total >= LEAST.kinds && right / total >= LEAST.values, `${kinds} and ${right} of ${total}`);
});

/** Their tests, run once; a recording that the caller keeps is used again. */
function record(): readonly Recorded[] {
  const path = kept ?? join(folder, "requests.jsonl");
  if (!existsSync(path)) {
    const args = ["-m", "pytest", "-q", "-p", "titiler-recorder", "tests/test_factories.py"];
    // oxlint-disable-next-line node/no-process-env -- a program of its own
    const env = { ...process.env, TITILER_RECORD: path, PYTHONPATH: import.meta.dirname };
    const { stdout } = spawnSync(python, args, { cwd: core, env, encoding: "utf8" });
    assert.ok(existsSync(path), `TiTiler's tests made no request: ${stdout.slice(-1000)}`);
  }
  return readFileSync(path, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Recorded);
}

/** Pixels of a tile that are others than gdalwarp's, beyond the thousandth that lies on edges between pixels. */
function compareWithGdal(own: Answer, { pathname, searchParams }: URL): { different: number; missing: number } {
  const [zoom, column, row] = (KNOWN.exec(pathname) ?? []).slice(1).map(Number) as [number, number, number];
  const buffer = Number(searchParams.get("buffer") ?? 0);
  const side = (2 * HALF_WORLD) / 2 ** zoom;
  const [west, north, edge] = [column * side - HALF_WORLD, HALF_WORLD - row * side, (buffer * side) / 256];
  const bbox = [west - edge, north - side - edge, west + side + edge, north + edge] as const;
  const [width, height] = [256 + 2 * buffer, 256 + 2 * buffer];
  const grid = { crs: parseCrs("EPSG:3857"), bbox, width, height };
  const expected = warpWithGdal(searchParams.get("url") ?? "", grid, "EPSG:3857", "nearest", folder, []);
  const { values, start } = readArray(Buffer.from(own.answer, "base64"));
  const mask = Uint8Array.from({ length: width * height }, (_, at) => (values[start + at]! > 0 ? 255 : 0));
  const { different, edges } = compareBand(expected, values, mask);
  return { different: Math.max(0, different - mask.length / 1000), missing: edges };
}

/** A catalogue of the one item that they have. */
function addCatalogue(data: string): { id: string; collection: string } {
  const item = JSON.parse(readFileSync(join(data, "item.json"), "utf8")) as {
    id: string;
    collection?: string;
    assets: Record<string, { href: string; type?: string }>;
  };
  for (const asset of Object.values(item.assets)) {
    asset.href = `./${asset.href.split("/").at(-1)}`;
    asset.type ??= "image/tiff; application=geotiff";
  }
  writeFileSync(join(data, "item.json"), JSON.stringify({ ...item, links: [] }));
  const links = [{ rel: "item", href: "./item.json" }];
  const catalogue = { type: "Catalog", stac_version: "1.0.0", id: "scenes", description: "TiTiler's item", links };
  writeFileSync(join(data, "catalog.json"), JSON.stringify(catalogue));
  return { id: item.id, collection: item.collection ?? "scenes" };
}

/**
 * Without a range, TiTiler shows the whole range of the type, and this service what most pixels have (percentiles 2 and 98 of the scene): pictures
 * of the test's 16-bit files, and their data where a colour formula is applied, would have nothing to compare.
 */
function withRange({ url, type }: Recorded): string {
  const address = new URL(url);
  const { searchParams: query } = address;
  const isShown = /^image\/(png|jpeg|webp)/.test(type) || query.has("color_formula");
  const isRanged = ["rescale", "colormap", "colormap_name", "algorithm"].some((name) => query.has(name));
  if (isShown && !isRanged && query.get("url") !== null && !/TCI/.test(url)) {
    query.set("rescale", "0,65535");
  }
  return String(address);
}

/** The path of this service that theirs stands for. */
function toOwn(theirs: string, own: string, host: string, item: string): string {
  const { pathname, searchParams } = new URL(theirs);
  const file = searchParams.get("url")?.split("/").at(-1);
  const path = pathname.replace(/^\/(something|cog|tms)(?=\/)/, "");
  if (file === undefined) {
    return `${own}${path}?${searchParams.toString()}`;
  }
  searchParams.delete("url");
  if (file.endsWith(".json")) {
    return `${own}${item}${path}?${searchParams.toString()}`;
  }
  searchParams.set("url", `${host}/${file}`);
  return `${own}/cog${path}?${searchParams.toString()}`;
}
