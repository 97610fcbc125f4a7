// Packages as people of the field write them, served by a server of HTTP: deployed by their addresses and executed.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestAdes, startAdes } from "../../components/ades/test/start-ades.ts";
import { prepareContainers, findContainersSkipReason } from "../conformance/cwl-images.ts";
import type { EoPackage } from "./eo-package.ts";
import { eoPackages } from "./eo-packages.ts";

let ades: TestAdes;
let web: Server;
let base: string;
const files = new Map<string, string>();
const folder = mkdtempSync(join(tmpdir(), "swath-eo-packages-"));
const noContainers = findContainersSkipReason();

const ITEM = JSON.stringify({
  type: "Feature",
  stac_version: "1.0.0",
  id: "S2A_33TVM",
  geometry: { type: "Point", coordinates: [14, 46.5] },
  bbox: [14, 46.5, 14, 46.5],
  properties: { datetime: "2023-07-13T10:00:00Z" },
  links: [],
  assets: {
    green: { href: "./B03.tif", type: "image/tiff; application=geotiff; profile=cloud-optimized", roles: ["data"] },
    nir: { href: "./B08.tif", type: "image/tiff; application=geotiff; profile=cloud-optimized", roles: ["data"] },
  },
});

before(async () => {
  web = createServer((request, response) => {
    const text = files.get(request.url ?? "");
    response.writeHead(text === undefined ? 404 : 200).end(text);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
  files.set("/stac/item.json", ITEM).set("/stac/B03.tif", "pixels of B03").set("/stac/B08.tif", "pixels of B08");
  for (const { id, files: own } of eoPackages(base)) {
    Object.entries(own).forEach(([path, text]) => files.set(`/${id}/${path}`, text));
  }
  // Images of hints are not there, as on a machine without a network; what is demanded has to be.
  ades = await startAdes({
    env: { ALLOW_PRIVATE: "127.0.0.1/32", CONTAINER_ENGINE: noContainers === undefined ? writeEngine() : "none" },
  });
});
after(async () => {
  await ades?.close();
  web.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Podman as it works where limits cannot be raised. */
function writeEngine(): string {
  const { CONTAINERS_CONF: conf } = prepareContainers(folder);
  const path = join(folder, "podman");
  writeFileSync(path, `#!/bin/sh\nCONTAINERS_CONF=${conf} exec /usr/bin/podman "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

async function readResults(location: string): Promise<string> {
  const { body } = await ades.send(`${location}/files`);
  const texts = await Promise.all(
    (body as { files?: { href: string }[] }).files?.map(async ({ href }) => (await ades.send(href)).body as unknown) ??
      [],
  );
  const { body: results } = await ades.send(`${location}/results`);
  return [...texts, results].map((text) => (typeof text === "string" ? text : JSON.stringify(text))).join("\n");
}

async function deployAndRun({ id, version, files: own, fragment, inputs, expected, image }: EoPackage): Promise<void> {
  const address = `${base}/${id}/${Object.keys(own)[0]}${fragment === undefined ? "" : `#${fragment}`}`;
  const { status, body } = await ades.send("/eric/ogc-api/processes", {
    json: { executionUnit: { href: address, type: "application/cwl" } },
  });
  assert.equal(status, 201, JSON.stringify(body));
  assert.equal(body.id, id);
  assert.equal(body.warnings, undefined);
  if (version !== undefined) {
    assert.equal(body.version, version);
  }
  const job = await ades.send(`/eric/ogc-api/processes/${id}/execution`, {
    json: { inputs: inputs(`${base}/stac/item.json`) },
    headers: { prefer: "respond-async" },
  });
  assert.equal(job.status, 201, JSON.stringify(job.body));
  const location = job.headers.get("location") ?? "";
  const { status: ended, message } = await ades.ended(location);
  assert.equal(ended, "successful", message);
  assert.match(await readResults(location), expected);
  if (image !== undefined) {
    assert.match(JSON.stringify((await ades.send(`${location}/steps`)).body), /"image":"(?!null)/);
  }
}

// Where they are served is known when the server listens; how many there are, and their names, is not a matter of that.
for (const { id, image } of eoPackages("http://127.0.0.1")) {
  const skip = image === undefined ? false : (noContainers ?? false);
  test(`${id} is deployed and executed`, { skip }, () =>
    deployAndRun(eoPackages(base).find((each) => each.id === id) as EoPackage),
  );
}

test("what only another runner can do is refused by name when it is demanded", async () => {
  const { status, body } = await ades.send("/eric/ogc-api/processes", {
    text: `cwlVersion: v1.2
$namespaces: {calrissian: "https://calrissian-cwl.github.io/schema#"}
class: CommandLineTool
id: dask
requirements: {"calrissian:DaskGatewayRequirement": {workerCores: 1}}
baseCommand: echo
inputs: []
outputs: []
`,
    type: "application/cwl",
  });
  assert.equal(status, 400);
  assert.match(JSON.stringify(body), /DaskGatewayRequirement/);
});
