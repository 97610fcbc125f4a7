import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import type { TestCluster } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { checkForms } from "../browser-assertions.ts";
import { type PortalFixture, type BrowserUser, deployPortal } from "./portal-browser.ts";

// From a package to a map: a person deploys the vegetation index, runs it on a part of a real scene, watches it, looks at what
// came of it. Somebody else sees none of it.
const EXAMPLES = join(import.meta.dirname, "../../../examples");
const skip = skipWithoutChromium;

let cluster: TestCluster;
let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let eric: BrowserUser;
let jobAddress = "";
before(async () => {
  if (skip === false) {
    ({ cluster, fixture, close } = await deployPortal());
    eric = await fixture.open();
    await eric.logIn("eric");
    await storeScene(eric, "lommel");
  }
});
after(() => close?.());

const portal = (path: string) => fixture.url("portal", path);

/** Makes the workspace of who is logged in, and puts an example's scene there. */
async function storeScene({ page }: BrowserUser, scene: string): Promise<void> {
  const files = readdirSync(join(EXAMPLES, "scenes", scene)).map((name) => ({
    path: `/api/workspaces/ws-eric/files/scenes/${scene}/${name}`,
    content: readFileSync(join(EXAMPLES, "scenes", scene, name)).toString("base64"),
  }));
  const statuses = await page.evaluate(async (stored) => {
    const send = (path: string, method: string, body?: string | Uint8Array<ArrayBuffer>, type = "application/json") =>
      fetch(path, { method, ...(body !== undefined && { body, headers: { "content-type": type } }) });
    const workspace = "/api/services/workspace-api/workspaces";
    await send(workspace, "POST", JSON.stringify({ preferred_name: "eric", default_owner: "eric" }));
    for (let attempt = 0; attempt < 600; attempt += 1) {
      const record = (await (await send(`${workspace}/ws-eric`, "GET")).json()) as { status?: string };
      if (record.status === "ready") {
        break;
      }
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    const responses: number[] = [];
    for (const { path, content } of stored) {
      const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
      // Its owner is known to everybody a moment after it is ready.
      let { status } = await send(path, "PUT", bytes, "application/octet-stream");
      for (let attempt = 0; status === 403 && attempt < 600; attempt += 1) {
        await new Promise((resolve) => setTimeout(resolve, 500));
        ({ status } = await send(path, "PUT", bytes, "application/octet-stream"));
      }
      responses.push(status);
    }
    return responses;
  }, files);
  assert.ok(
    statuses.every((status) => status < 300),
    statuses.join(" "),
  );
}

test("the mistakes of a package are shown at their lines, and gone when they are repaired", { skip }, async () => {
  const { page } = eric;
  const text = readFileSync(join(EXAMPLES, "packages/ndvi.cwl"), "utf8");
  const line = text.split("\n").findIndex((found) => found.includes('run: "#ndvi-scene"')) + 1;
  await page.goto(portal("/processing/deploy"));
  const open = (content: string) =>
    page
      .locator("input[type=file]")
      .setInputFiles([{ name: "ndvi.cwl", mimeType: "text/plain", buffer: Buffer.from(content) }]);
  await open(text.replace('run: "#ndvi-scene"', 'run: "#ndvi-scen"'));
  await page.getByText("Not valid:").waitFor();
  await page
    .getByRole("button", { name: `Line ${line}` })
    .first()
    .click();
  await page.locator(".cm-activeLine", { hasText: "#ndvi-scen" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Deploy", exact: true }).isDisabled(), true);
  await open(text);
  await page.getByText("Valid: Vegetation index").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/processing\/processes\/ndvi$/);
  await page.locator(".swath-step", { hasText: "index" }).waitFor();
});

test("a scene is chosen, an area drawn, and the job's page tells how far it is", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/processing/processes/ndvi/run"));
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("Scenes is needed.").first().waitFor();

  await page.getByRole("button", { name: "Choose scenes", exact: true }).click();
  await page.getByRole("button", { name: "scenes", exact: true }).click();
  await page.getByRole("button", { name: "lommel", exact: true }).click();
  await page.getByRole("checkbox", { name: /Lommel/ }).check();
  await page.getByRole("button", { name: "Use" }).click();
  assert.equal(await page.getByLabel("Scenes 1", { exact: true }).inputValue(), "s3://ws-eric/scenes/lommel/item.json");

  const map = page.getByRole("application", { name: "Map for Area of interest" });
  await page.getByRole("button", { name: "Draw a box" }).click();
  await map.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await map.boundingBox()) ?? assert.fail("the map has no place");
  await page.mouse.click(x + width * 0.46, y + height * 0.6);
  await page.mouse.move(x + width * 0.5, y + height * 0.5);
  await page.mouse.click(x + width * 0.53, y + height * 0.4);
  await page.getByRole("button", { name: "Draw anew" }).waitFor();
  const sides = await Promise.all(["West", "South", "East", "North"].map((side) => page.getByLabel(side).inputValue()));
  const [west = 0, south = 0, east = 0, north = 0] = sides.map(Number);
  assert.ok(
    5.22 < west && west < east && east < 5.31 && 51.21 < south && south < north && north < 51.31,
    sides.join(" "),
  );

  // An area beside the scene is said to be one before anything is run.
  for (const [side, degrees] of Object.entries({ West: "15", South: "46", East: "15.5", North: "46.5" })) {
    await page.getByLabel(side).fill(degrees);
  }
  await page.getByText("The area lies outside of the scene").waitFor();
  const kml = `<kml><Placemark><Polygon><outerBoundaryIs><LinearRing><coordinates>
    5.24,51.22,0 5.3,51.22,0 5.3,51.3,0 5.24,51.22,0</coordinates></LinearRing></outerBoundaryIs></Polygon></Placemark></kml>`;
  await page
    .getByLabel("GeoJSON or KML file")
    .setInputFiles([{ name: "field.kml", mimeType: "text/xml", buffer: Buffer.from(kml) }]);
  await page.getByText("The area lies outside of the scene").waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("North").inputValue(), "51.3");

  // Without a pointer the same is typed.
  await page.getByLabel("West").fill("5.25");
  await page.getByLabel("East").fill("5.24");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.getByText("West must be less than east.").first().waitFor();
  await page.getByLabel("East").fill("5.28");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/processing\/jobs\/[0-9a-f-]{36}$/);
  jobAddress = page.url();
  await page.locator(".swath-step", { hasText: "index" }).waitFor();
});

test("the result is on the map with the spread of its values; its files are downloaded", { skip }, async () => {
  const { page } = eric;
  const parts: number[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith("_ndvi.tif")) {
      parts.push(response.status());
    }
  });
  await page.getByRole("application", { name: "Results on a map" }).waitFor({ timeout: 300_000 });
  await page.getByRole("img", { name: /Vegetation index \(NDVI\): values from .* mean 0\.\d+/ }).waitFor();
  assert.ok(parts.length > 0 && parts.every((status) => status === 206), parts.join(" "));
  assert.equal(await page.getByText("The raster is not on the map").count(), 0);

  await page.getByRole("tab", { name: "Steps" }).click();
  await page.locator('.swath-step[data-status="successful"]', { hasText: "index" }).waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByText("complete", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Results" }).click();
  await page.getByRole("tab", { name: "Files" }).click();
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: /^Download .*_ndvi\.tif$/ }).click();
  const file = readFileSync(await (await downloading).path());
  assert.equal(file.subarray(0, 2).toString(), "II");
});

test("while a raster is drawn its colours are changed and the page is left, and nothing breaks", { skip }, async () => {
  const { page } = eric;
  await page.goto(jobAddress);
  await page.getByRole("img", { name: /values from/ }).waitFor();
  await page.getByLabel("Colours").selectOption("Grey");
  await page.getByLabel("To", { exact: true }).fill("0.9");
  await page.getByRole("tab", { name: "Steps" }).click();
  await page.locator(".swath-step").first().waitFor();
  await page.getByRole("link", { name: "Workspaces" }).click();
  await page.getByRole("link", { name: "ws-eric" }).waitFor();
  await page.goBack();
  // Where it was left: the tab is in the address.
  await page.getByRole("tab", { name: "Steps", selected: true }).waitFor();
  await page.getByRole("tab", { name: "Results" }).click();
  await page.getByRole("img", { name: /values from/ }).waitFor();
});

test(
  "without a catalogue no registration of the result waits for one; what the job was given can be read",
  { skip },
  async () => {
    const { page } = eric;
    const job = new URL(jobAddress).pathname.split("/").at(-1) ?? "";
    const read = <T>(path: string) =>
      page.evaluate(
        async (address) => (await (await fetch(`/api/services${address}`)).json()) as unknown,
        path,
      ) as Promise<T>;
    const { registrations } = await read<{ registrations: readonly unknown[] }>(
      "/workspace-api/workspaces/ws-eric/registrations",
    );
    assert.deepEqual(registrations, []);
    const provided = await read<object>(`/ades/eric/ogc-api/jobs/${job}/inputs`);
    assert.deepEqual(Object.keys(provided).toSorted(), ["inputs", "links", "response"]);
  },
);

test("a job's tabs are in its address, it leads to its files, and is copied for other programs", { skip }, async () => {
  const { page } = eric;
  await page.goto(`${jobAddress}?tab=log`);
  await page.getByText("complete", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Inputs" }).click();
  await page.waitForURL(/\?tab=inputs$/);
  await page.reload();
  await page.getByRole("link", { name: "s3://ws-eric/scenes/lommel/item.json" }).waitFor();
  await page.getByRole("button", { name: "Copy as", exact: true }).click();
  await page.getByRole("menuitem", { name: "curl" }).click();
  await page.getByText("Copied for curl.").waitFor();
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  assert.ok(copied.includes(`'${fixture.url("ades", "/eric/ogc-api/processes/ndvi/execution")}'`), copied);
  assert.ok(copied.includes("s3://ws-eric/scenes/lommel/item.json") && !copied.includes("eyJ"), copied);
  await page.getByRole("link", { name: "In the workspace's files" }).click();
  await page.getByRole("button", { name: "catalog.json" }).waitFor();
  assert.match(page.url(), /ws-eric\/files\?prefix=processing-results/);
});

test("files are found, looked at as rasters, renamed, moved into a new folder, and zipped", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/workspaces/ws-eric/files"));
  await page.getByLabel("Find files").fill("LOMMEL/b0");
  await page.getByRole("button", { name: "scenes/lommel/B04.tif" }).click();
  await page.getByRole("application", { name: /^Map of/ }).waitFor();
  await page.getByRole("img", { name: /values from/ }).waitFor();
  await page.getByRole("button", { name: "Close" }).click();

  await page.goto(portal("/workspaces/ws-eric/files?prefix=scenes/lommel/"));
  const choose = (name: string) => page.getByRole("checkbox", { name: `Choose ${name}` }).check();
  const dialog = page.getByRole("dialog");
  await choose("B03.tif");
  await page.getByRole("button", { name: "Rename" }).click();
  await dialog.getByLabel("Name").fill("catalog.json");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText(/exists already/).waitFor();
  await dialog.getByLabel("Name").fill("green & 1.tif");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "green & 1.tif" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "B03.tif" }).count(), 0);

  await page.goto(portal("/workspaces/ws-eric/files"));
  await page.getByRole("button", { name: "New folder" }).click();
  await dialog.getByLabel("Name").fill("kept");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByRole("button", { name: "kept/" }).click();
  await page.getByRole("heading", { name: "No files here yet" }).waitFor();
  await page.goto(portal("/workspaces/ws-eric/files?prefix=scenes/lommel/"));
  await choose("green & 1.tif");
  await page.getByRole("button", { name: "Move" }).click();
  await dialog.getByLabel("Folder").fill("kept");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.goto(portal("/workspaces/ws-eric/files"));
  await choose("kept");
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download as zip" }).click();
  const archive = readFileSync(await (await downloading).path());
  assert.ok(archive.includes("kept/green & 1.tif"), "the moved file is in the archive");
  assert.equal(archive.readUInt32LE(0), 0x04_03_4b_50);
});

test("a job is run again with what it was given before", { skip }, async () => {
  const { page } = eric;
  await page.goto(jobAddress);
  await page.getByRole("link", { name: "Run again" }).click();
  assert.equal(await page.getByLabel("Scenes 1", { exact: true }).inputValue(), "s3://ws-eric/scenes/lommel/item.json");
  assert.equal(await page.getByLabel("East").inputValue(), "5.28");
});

test("pages have no serious accessibility fault, light and dark, and fit a phone", { skip }, async () => {
  const browserUser = await fixture.open({ bypassCSP: true });
  await browserUser.logIn("eric");
  const { page } = browserUser;
  const pages: readonly (readonly [string, () => Promise<void>])[] = [
    ["/processing/processes", () => page.getByRole("link", { name: "Vegetation index", exact: true }).waitFor()],
    ["/processing/deploy", () => page.getByLabel("Package in CWL").waitFor()],
    ["/processing/processes/ndvi", () => page.locator(".swath-step").first().waitFor()],
    ["/processing/processes/ndvi/run", () => page.getByRole("application").waitFor()],
    ["/processing/processes/echo/run", () => page.getByRole("button", { name: "Run", exact: true }).waitFor()],
    ["/processing/jobs", () => page.getByRole("link", { name: "ndvi" }).first().waitFor()],
    [new URL(jobAddress).pathname, () => page.getByRole("img", { name: /values from/ }).waitFor()],
  ];
  for (const [path, exists] of pages) {
    await page.goto(portal(path));
    await exists();
    await checkForms(page, path);
  }
  await browserUser.context.close();
});

test("somebody else sees none of it; nothing was asked of anybody outside; logged out is out", { skip }, async () => {
  const bob = await fixture.open();
  await bob.logIn("bob", "/processing/jobs");
  await bob.page.getByRole("heading", { name: "Nothing was run yet" }).waitFor();
  await bob.page.goto(jobAddress);
  await bob.page.getByRole("heading", { name: "There is no such job" }).waitFor();
  const job = new URL(jobAddress).pathname.split("/").at(-1) ?? "";
  const refused = await bob.page.evaluate(
    async (id) =>
      Promise.all(
        [`/eric/ogc-api/jobs/${id}`, `/eric/ogc-api/jobs/${id}/files`, `/bob/ogc-api/jobs/${id}/files`].map(
          async (path) => (await fetch(`/api/services/ades${path}`)).status,
        ),
      ),
    job,
  );
  assert.ok(
    refused.every((status) => status === 403 || status === 404),
    refused.join(" "),
  );

  const hosts = new Set(
    [...eric.requests, ...bob.requests].flatMap((url) => (/^https?:/.test(url) ? [new URL(url).hostname] : [])),
  );
  assert.ok(
    [...hosts].every((host) => host === cluster.domain || host.endsWith(`.${cluster.domain}`)),
    [...hosts].join(" "),
  );
  await eric.page.goto(jobAddress);
  await eric.page.getByRole("button", { name: /^Logged in as/ }).click();
  await eric.page.getByRole("menuitem", { name: "Log out" }).click();
  await eric.page.getByText("You are logged out").waitFor();
  await eric.page.goto(jobAddress);
  await eric.page.getByRole("link", { name: "Log in" }).waitFor();
});

test("no page had a fault in the console of the browser", { skip }, () => {
  const expected = [
    // Somebody else's job, and what is asked before anybody is logged in.
    /status of 40[34] .*\/api\/services\/ades\/(bob|eric)\/ogc-api\/jobs\//,
    /status of 401 /,
    // A package with a mistake.
    /status of 4\d\d .*\/packages\/check/,
    /status of 403 .*\/workspaces\/ws-eric/,
    // A name that is taken.
    /status of 412 .*\/move/,
  ];
  assert.deepEqual(fixture.findFaults(expected), []);
});
