import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { runCommand } from "@swath/testing";

import { makeCollection, makeItem, startDocuments, startFixture } from "./fixture.ts";

// The operator's commands against a running registration API that asks for no login.
const ROOT = join(import.meta.dirname, "../../..");
const fixture = await startFixture();
const folder = mkdtempSync(join(tmpdir(), "registration-commands-"));
after(async () => {
  await fixture.close();
  rmSync(folder, { recursive: true, force: true });
});
const { callCatalogue } = fixture;

const run = (command: string, ...args: readonly string[]) =>
  runCommand(join(ROOT, command), [...args, "--api", fixture.apiUrl], {
    env: { PATH: process.env["PATH"], HOME: folder, SWATH_CLUSTER: "none" },
  });
const file = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
};

test("harvest: a configuration file is kept and run once; what is broken is named; swath harvest shows and repeats it", async (t) => {
  let isBroken = true;
  const documents = await startDocuments(() => ({
    type: "FeatureCollection",
    features: [
      makeItem("good", { collection: "by-command" }),
      makeItem("mended", {
        collection: "by-command",
        properties: { datetime: isBroken ? 7 : "2024-06-01T10:00:00Z" },
      }),
    ],
    links: [],
  }));
  t.after(documents.close);
  const config = file(
    "harvesters.yaml",
    `harvesters:
  - name: Other
    resource: { url: "http://127.0.0.1:1/search", type: STACAPI }
  - name: Custom-Config
    resource: { url: "${documents.url}/search", type: STACAPI }
    filter: {}
    queue: register
`,
  );
  const broken = await run("deploy/bin/harvest", config);
  assert.equal(broken.status, 1);
  assert.match(broken.stdout, /^task \d+ done: 1 registered, 1 failed$/m);
  assert.match(broken.stdout, /^ {2}mended: .*datetime/m);
  isBroken = false;
  const mended = await run("deploy/bin/harvest", config, "Custom-Config");
  assert.equal(mended.status, 0, mended.stderr);
  assert.match(mended.stdout, /done: 1 registered, 1 unchanged/);
  assert.equal((await callCatalogue("/stac/collections/by-command/items/mended")).status, 200);

  const listed = await run("bin/swath", "harvest");
  assert.match(listed.stdout, /^Custom-Config +STACAPI +on request +- +\d+ +done: 1 registered, 1 unchanged$/m);
  assert.equal((await run("bin/swath", "harvest", "run", "Custom-Config")).status, 0);
  assert.equal((await run("bin/swath", "harvest", "remove", "Custom-Config")).status, 0);
  const gone = await run("bin/swath", "harvest", "run", "Custom-Config");
  assert.equal(gone.status, 1);
  assert.match(gone.stderr, /There is no harvester Custom-Config/);
  assert.match((await run("deploy/bin/harvest", config, "None")).stderr, /Name one of the harvesters of the file/);
  assert.match((await run("deploy/bin/harvest", join(folder, "none"))).stderr, /cannot be read/);
  const large = file("large.yaml", `harvesters:\n  - name: Large # ${"x".repeat(70_000)}\n`);
  assert.match(
    (await run("deploy/bin/harvest", large)).stderr,
    /larger than a request may be .*64 KiB for a harvester/,
  );
});

test("what was set aside is shown, repaired and repeated", async () => {
  const failed = await fixture.register("/register-json", { ...makeItem("poison"), collection: "repaired" });
  assert.equal(failed.body.state, "failed", JSON.stringify(failed.body));
  const { id } = failed.body as { id: string };
  const listed = await run("bin/swath", "harvest", "tasks", "--state", "failed");
  assert.match(listed.stdout, new RegExp(`^${id} +json .* failed .* poison$`, "m"));
  const shown = JSON.parse((await run("bin/swath", "harvest", "show", id, "-o", "json")).stdout) as { reason: string };
  assert.match(shown.reason, /"\.\/data\.tif" is relative/);
  const again = await run("bin/swath", "harvest", "repeat", id);
  assert.equal(again.status, 1, again.stdout);
  const mended = file("mended.json", { ...makeItem("poison"), collection: "repaired", assets: {} });
  const repaired = await run("bin/swath", "harvest", "repeat", id, "--document", mended);
  assert.equal(repaired.status, 0, repaired.stderr + repaired.stdout);
  assert.equal((await callCatalogue("/stac/collections/repaired/items/poison")).status, 200);
});

test("register-collection and load-records", async () => {
  const collection = await run("deploy/bin/register-collection", file("collection.json", makeCollection("by-file")));
  assert.equal(collection.status, 0, collection.stderr);
  assert.equal((await callCatalogue("/stac/collections/by-file")).body.description, "Scenes of by-file");
  assert.match(
    (await run("deploy/bin/register-collection", file("item.json", makeItem("x")))).stdout,
    /its type must be Collection/,
  );
  mkdirSync(join(folder, "records/deep"), { recursive: true });
  file("records/note.json", { type: "Feature", id: "n1", geometry: null, properties: { type: "dataset", title: "N" } });
  file("records/deep/scene.geojson", makeItem("loaded", { collection: "by-file", assets: {} }));
  file(
    "records/iso.xml",
    `<?xml version="1.0"?>
<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco">
  <gmd:fileIdentifier><gco:CharacterString>iso-file</gco:CharacterString></gmd:fileIdentifier>
  <gmd:dateStamp><gco:Date>2024-01-01</gco:Date></gmd:dateStamp>
  <gmd:identificationInfo><gmd:MD_DataIdentification><gmd:citation><gmd:CI_Citation>
    <gmd:title><gco:CharacterString>From a file</gco:CharacterString></gmd:title>
  </gmd:CI_Citation></gmd:citation></gmd:MD_DataIdentification></gmd:identificationInfo>
</gmd:MD_Metadata>`,
  );
  file("records/readme.txt", "none");
  const loaded = await run("deploy/bin/load-records", join(folder, "records"));
  assert.equal(loaded.status, 0, loaded.stderr);
  assert.equal(loaded.stdout, "3 of 3 records registered\n");
  assert.equal((await callCatalogue("/collections/metadata:main/items/iso-file")).body.properties.title, "From a file");
  assert.equal((await callCatalogue("/stac/collections/by-file/items/loaded")).status, 200);
  file("records/broken.json", "{");
  const partly = await run("deploy/bin/load-records", join(folder, "records"));
  assert.equal(partly.status, 1);
  assert.equal(partly.stdout, "3 of 4 records registered\n");
  assert.match(partly.stderr, /broken\.json is not valid JSON/);
});
