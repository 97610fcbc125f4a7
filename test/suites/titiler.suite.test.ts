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
import { type Answer, compareKinds, compareValues } from "../../components/data-access/test/titiler-answers.ts";
import { gdalSkipReason } from "../../libs/raster/test/gdal.ts";

// oxlint-disable-next-line node/no-process-env -- where the clone and its Python are is the caller's to say
const { TITILER_FOLDER: clone = "", TITILER_PYTHON: python = "python3", TITILER_RECORD: kept } = process.env;
const core = join(clone, "src/titiler/core");
/** Shares that are reached, of those requests that reach a path of this service; more may not be lost. */
const LEAST = { kinds: 0.7, values: 0.6 };
/** Tests of applications that their authors changed: logins, options of GDAL, colour maps of their own. */
const CUSTOM =
  /WithDepend|WithGdalEn|path_param|optional_headers|cog_custom|colorMaps\/(cust|negative|seq)|openapi|\/docs/;

interface Recorded extends Answer {
  readonly test: string;
  readonly method: string;
  readonly url: string;
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
  let [kinds, values, total] = [0, 0, 0];
  for (const request of recorded) {
    const address = toOwn(request.url, own, host, `/collections/${collection}/items/${id}`);
    total += 1;
    const response = await fetch(address, {
      method: request.method,
      ...(request.method === "POST" && { body: request.body, headers: { "content-type": "application/json" } }),
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
      searchParams.delete("url");
      t.diagnostic(
        `${request.method} ${pathname} ${searchParams.toString().slice(0, 100)}: ${difference.slice(0, 200)}`,
      );
    }
  }
  t.diagnostic(`${total} requests: ${kinds} have the same kind of answer, ${values} the same values`);
  assert.ok(kinds / total >= LEAST.kinds && values / total >= LEAST.values, `${kinds} and ${values} of ${total}`);
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
