import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { type CatalogueFixture, startCatalogue } from "../../components/resource-catalogue/test/fixture.ts";

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

test("stac-api-validator: core, collections, features, item-search, filter", { skip }, async () => {
  const { url } = await openLoaded();
  const geometry = JSON.stringify({
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
  const classes = ["core", "collections", "features", "item-search", "filter"].flatMap((name) => [
    "--conformance",
    name,
  ]);
  const { output } = await run(join(folder, "bin/stac-api-validator"), [
    "--root-url",
    `${url}/stac`,
    ...classes,
    "--collection",
    "sentinel-2-l2a",
    "--geometry",
    geometry,
  ]);
  const errors = output
    .slice(output.lastIndexOf("\nErrors:"))
    .split("\n")
    // It fetches the schemas of documents, which a machine without the Internet cannot; they are validated elsewhere.
    .filter((line) => line.startsWith("- ") && !/NameResolutionError|ConnectionError|Max retries/.test(line));
  assert.match(output, /Validating STAC API - Item Search - Filter Extension/);
  assert.deepEqual(errors, []);
});

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
