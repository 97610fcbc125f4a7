// Notebooks that others published, against what `deploy/simple/simple` deploys. Nothing of theirs is kept here. NOTEBOOKS_FOLDER names a
// folder with `eoepca-2.0/*.ipynb` (github.com/EOEPCA/deployment-guide, 445f6d2, notebooks/examples) and `pystac-client/*.ipynb`
// (github.com/stac-utils/pystac-client, docs/tutorials), and NOTEBOOKS_PYTHON a Python from 3.12 on with nbclient, ipykernel, requests, owslib, geolinks,
// folium, matplotlib, tifffile, pystac-client, odc-stac, geopandas, hvplot, geoviews, geojson and pygeoif:
//
//     NOTEBOOKS_FOLDER=~/notebooks NOTEBOOKS_PYTHON=~/venv/bin/python npm run test:suites -- notebooks
//
// NOTEBOOKS_ONLY=iam runs those whose name has that in it.
// What is changed in them: `notebooks/replacements.ts`. Records with the names and at the places that they have in their code are loaded first.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, runCommand } from "@swath/testing";

import { type RanCell, findFailure } from "./notebooks/judge-cell.ts";
import { createNotebookEnvironment, loadPlatform, startPlatform } from "./notebooks/platform.ts";
import { REGISTERED_COLLECTION, createIceland, listNeighbours, listSeededCollections } from "./notebooks/records.ts";
import { listReplacements, replaceHosts } from "./notebooks/replacements.ts";
import { serveFiles } from "./notebooks/serve-files.ts";

// oxlint-disable-next-line node/no-process-env -- where the notebooks and their Python are is the caller's to say
const { NOTEBOOKS_FOLDER: source = "", NOTEBOOKS_PYTHON: python = "python3", NOTEBOOKS_ONLY: only = "" } = process.env;
const skip = !existsSync(join(source, "eoepca-2.0"))
  ? "needs the notebooks in the folder that NOTEBOOKS_FOLDER names"
  : spawnSync(python, [
      "-c",
      "import sys, nbclient, owslib, odc.stac, hvplot.pandas, geoviews; sys.exit(sys.version_info < (3, 12))",
    ]).status !== 0 && `needs a Python with what the notebooks import: NOTEBOOKS_PYTHON (${python} has it not)`;

const REALM = "master";
const SECONDS_PER_CELL = 120;
const SCENE = join(import.meta.dirname, "../../examples/scenes/lommel");
const HERE = join(import.meta.dirname, "notebooks");

/** Cells that must pass, of all code cells that are not empty, and why the others cannot. */
const NOTEBOOKS: Readonly<Record<string, { readonly least: number; readonly of: number; readonly reason?: string }>> = {
  "eoepca-2.0/resource-discovery": { least: 24, of: 24 },
  "eoepca-2.0/data-access": { least: 20, of: 20 },
  "eoepca-2.0/resource-registration": { least: 19, of: 23, reason: "Flowable and kubectl, which are not deployed" },
  "eoepca-2.0/datacube-access": { least: 13, of: 13 },
  "pystac-client/aoi-coverage": { least: 5, of: 5 },
  "pystac-client/cql2-filter": { least: 12, of: 12 },
  "pystac-client/item-search-intersects": { least: 6, of: 6 },
  "pystac-client/pystac-client-introduction": { least: 10, of: 10 },
  "pystac-client/stac-metadata-viz": { least: 11, of: 11 },
  "eoepca-2.0/workspace": {
    least: 11,
    of: 16,
    reason: "a user that a resource of Kubernetes makes, kubectl, and a keyboard",
  },
  "eoepca-2.0/oapip": { least: 11, of: 11 },
  // Keycloak's answer to an authorization request without parameters is 400 as well.
  "eoepca-2.0/iam": { least: 8, of: 13, reason: "an Open Policy Agent, and parameters that one request has not" },
};

const folder = mkdtempSync(join(tmpdir(), "swath-notebooks-"));
let cluster: TestCluster;
let files: Awaited<ReturnType<typeof serveFiles>>;
before(async () => {
  if (skip !== false) {
    return;
  }
  const scenes = join(folder, "scenes");
  mkdirSync(scenes);
  const placed = await runCommand(python, [join(HERE, "place-scenes.py"), SCENE, scenes], { env: process.env });
  assert.equal(placed.status, 0, placed.stderr);
  files = await serveFiles(scenes, (url) => {
    const { collection, items } = createIceland(url);
    return {
      "sentinel-2-iceland/collections.json": JSON.stringify(collection),
      "sentinel-2-iceland/items.json": JSON.stringify(items),
      "stac-collection.json": JSON.stringify(REGISTERED_COLLECTION),
      "convert-url-app.cwl": readFileSync(join(HERE, "convert-url.cwl"), "utf8"),
    };
  });
  cluster = await startPlatform();
  await loadPlatform(cluster, { scenes, collections: listSeededCollections(files.url, "s3://notebooks") });
});
after(async () => {
  files?.close();
  await cluster?.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const [name, { least, of, reason }] of Object.entries(NOTEBOOKS)) {
  test(`${name}: ${least} of ${of} cells`, { skip: skip || !name.includes(only) }, async (t) => {
    const cells = await run(name);
    const failures = cells.flatMap((cell, index) => {
      const failure = findFailure(cell);
      return failure === undefined ? [] : [`[${index}] ${cell.source.split("\n", 1)[0]}: ${failure}`];
    });
    const passed = cells.length - failures.length;
    const outside = reason === undefined ? "" : `; the others need ${reason}`;
    t.diagnostic(`${name}: ${passed} of ${cells.length}${outside}`);
    for (const failure of failures) {
      t.diagnostic(failure);
    }
    assert.equal(cells.length, of, "the notebook is another one than the figures are for");
    assert.ok(passed >= least, failures.join("\n"));
  });
}

/** Runs a notebook in a folder of its own, with the documents beside it that it reads. */
async function run(name: string): Promise<readonly RanCell[]> {
  const domain = `${cluster.domain}:${cluster.port}`;
  const place = join(folder, name);
  mkdirSync(join(folder, "eoepca-2.0/modules"), { recursive: true });
  mkdirSync(place, { recursive: true });
  copyFileSync(join(HERE, "helpers.py"), join(folder, "eoepca-2.0/modules/helpers.py"));
  for (const [file, document] of Object.entries(listNeighbours(`http://data-access-open.${domain}/ows`))) {
    writeFileSync(join(place, file), JSON.stringify(document));
  }
  const notebook = join(place, `${basename(name)}.ipynb`);
  const replacements = listReplacements({ domain, realm: REALM, filesUrl: files.url });
  writeFileSync(notebook, replaceHosts(readFileSync(join(source, `${name}.ipynb`), "utf8"), replacements));
  const { status, stdout, stderr } = await runCommand(
    python,
    [join(HERE, "run-notebook.py"), notebook, String(SECONDS_PER_CELL)],
    { cwd: place, env: createNotebookEnvironment(cluster, { folder, realm: REALM }) },
  );
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as readonly RanCell[];
}
