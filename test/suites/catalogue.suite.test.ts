import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import {
  type CatalogueFixture,
  makeCollection,
  startCatalogue,
} from "../../components/resource-catalogue/test/fixture.ts";

const PACKAGES = ["stac-api-validator==0.6.8", "pystac-client==0.9.1", "owslib==0.35.0"];
/** Real records; beside the checkout where there are some. */
const DATA = process.env["SWATH_TEST_DATA"] ?? "/usr/share/swath-test-data";
const folder = mkdtempSync(join(tmpdir(), "swath-suite-"));
const python = installPackages();
const skip =
  python === undefined
    ? "needs python3 with venv, and the registry PyPI"
    : existsSync(join(DATA, "stac"))
      ? false
      : `needs STAC records below ${DATA}/stac; name their folder with SWATH_TEST_DATA`;
let catalogue: CatalogueFixture | undefined;
after(async () => {
  await catalogue?.close();
  rmSync(folder, { recursive: true });
});

test("pystac-client and owslib search, page and read", { skip }, async () => {
  const { url } = await openLoaded();
  const { status, output } = await run(join(folder, "bin/python"), [join(import.meta.dirname, "stac-clients.py"), url]);
  assert.equal(status, 0, output);
  assert.match(output, /^ok$/m);
});

/**
 * All that stac-api-validator knows of, but for `transaction` (below), `children`, which this catalogue does not have, and `query`: it sends
 * numbers as texts, which are other values here.
 */
const CLASSES = [
  "core",
  "browseable",
  "collections",
  "features",
  "features#sort",
  "features#fields",
  "item-search",
  "item-search#sort",
  "item-search#fields",
  "filter",
];

const GEOMETRY = JSON.stringify({
  type: "Polygon",
  coordinates: [
    [
      [-110, 35],
      [-100, 35],
      [-100, 45],
      [-110, 45],
      [-110, 35],
    ],
  ],
});

test("stac-api-validator: every class that reads", { skip }, async () => {
  const { url } = await openLoaded();
  const output = await validate(url, [
    ...CLASSES,
    "--collection",
    "sentinel-2-l2a",
    "--geometry",
    GEOMETRY,
    "--fields-nested-property",
    "properties.platform",
  ]);
  for (const part of [/Browseable conformance class/, /Item Search - Filter Extension/]) {
    assert.match(output, part);
  }
  // It asks for sorting with a text where the specification has a list of collections, which is refused; wants null refused, which stands for
  // nothing here; and wants five members where it asks for one.
  const wrong = new RegExp(
    [
      '"collections": "sentinel-2-l2a"} had unexpected status code 400',
      '{"fields": null} had unexpected status code 200',
      String.raw`'include': \['properties.platform'\]}} response contained fewer than 5`,
    ].join("|"),
  );
  assert.deepEqual(
    listErrors(output).filter((line) => !wrong.test(line)),
    [],
  );
});

test("stac-api-validator: transaction", { skip }, async (t) => {
  // It writes cloud covers that are texts.
  const lenient = await startCatalogue({ VALIDATION: "lenient" });
  t.after(() => lenient.close());
  await lenient.request("POST", "/stac/collections", { body: makeCollection("written") });
  const output = await validate(lenient.url, ["transaction", "--transaction-collection", "written"]);
  assert.match(output, /Transaction extension/);
  // It knows one of the answers that OGC API Features Part 4 allows: 204 to what was replaced, and to what was never there.
  const allowed =
    /: PUT .* status code 200 instead of 204|: PATCH .* 200 instead of 204|: DELETE .* 404 instead of 204/;
  assert.deepEqual(
    listErrors(output).filter((line) => !allowed.test(line)),
    [],
  );
});

/** @param options classes, then other options */
async function validate(url: string, options: readonly string[]): Promise<string> {
  const others = options.findIndex((option) => option.startsWith("--"));
  const classes = options.slice(0, others).flatMap((name) => ["--conformance", name]);
  const { output } = await run(join(folder, "bin/stac-api-validator"), [
    "--root-url",
    `${url}/stac`,
    ...classes,
    ...options.slice(others),
  ]);
  return output;
}

function listErrors(output: string): string[] {
  assert.match(output, /\nErrors:/);
  return (
    output
      .slice(output.lastIndexOf("\nErrors:"))
      .split("\n")
      // It fetches the schemas of documents, which a machine without the Internet cannot; they are validated elsewhere.
      .filter((line) => line.startsWith("- ") && !/NameResolutionError|ConnectionError|Max retries/.test(line))
  );
}

function installPackages(): string | undefined {
  const made = spawnSync("python3", ["-m", "venv", folder]);
  if (made.status !== 0) {
    return undefined;
  }
  const installed = spawnSync(join(folder, "bin/pip"), ["install", "-q", "--disable-pip-version-check", ...PACKAGES], {
    timeout: 300_000,
  });
  return installed.status === 0 ? join(folder, "bin/python") : undefined;
}

async function openLoaded(): Promise<CatalogueFixture> {
  if (catalogue !== undefined) {
    return catalogue;
  }
  catalogue = await startCatalogue();
  for (const name of ["landsat-c2-l2", "sentinel-2-l2a"]) {
    const source = join(DATA, "stac/planetary-computer", name);
    await catalogue.request("POST", "/stac/collections", {
      body: readFileSync(join(source, "collection.json"), "utf8"),
    });
    for (const file of globSync("items/*.json", { cwd: source })) {
      const { status, text } = await catalogue.request("POST", `/stac/collections/${name}/items`, {
        body: readFileSync(join(source, file), "utf8"),
      });
      assert.equal(status, 201, text);
    }
  }
  return catalogue;
}

/** The catalogue is in this process: it must go on while the client runs. */
function run(program: string, args: readonly string[]): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args);
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output: Buffer.concat(chunks).toString() }));
  });
}
