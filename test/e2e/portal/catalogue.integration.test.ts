import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { checkAccessibility } from "../browser-assertions.ts";
import { type PortalFixture, type BrowserUser, deployPortal } from "./portal-browser.ts";

// Real scenes in the catalogue, found in the portal by area, time and words, looked at, and handed to a process.
const SCENES = join(import.meta.dirname, "../../../examples/scenes");
const skip = skipWithoutChromium;

let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let eric: BrowserUser;
before(async () => {
  if (skip === false) {
    ({ fixture, close } = await deployPortal({
      REQUIRE_RESOURCE_CATALOGUE: "true",
      REQUIRE_REGISTRATION_API: "true",
      REGISTRATION_ALLOW_PRIVATE: "127.0.0.1",
    }));
    const admin = await fixture.open();
    await admin.logIn("admin");
    await loadScenes(admin);
    await admin.context.close();
    eric = await fixture.open();
    await eric.logIn("eric");
  }
});
after(() => close?.());

const portal = (path: string) => fixture.url("portal", path);

/** A public collection of the example scenes, through the portal as pages do it. */
async function loadScenes({ page }: BrowserUser): Promise<void> {
  const folders = readdirSync(SCENES, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const items = folders.map(({ name }) => ({
    ...(JSON.parse(readFileSync(join(SCENES, name, "item.json"), "utf8")) as Record<string, unknown>),
    collection: "examples",
    links: [],
  }));
  const collection = {
    type: "Collection",
    stac_version: "1.0.0",
    id: "examples",
    title: "Example scenes",
    description: "Crops of real scenes",
    license: "proprietary",
    keywords: ["examples"],
    extent: {
      spatial: { bbox: [[5.2, -36, 150, 51.4]] },
      temporal: { interval: [["1990-01-01T00:00:00Z", null]] },
    },
    links: [],
  };
  const statuses = await page.evaluate(
    async ([record, features]) => {
      const send = async (path: string, body: unknown) =>
        (
          await fetch(`/api/services/resource-catalogue/stac${path}`, {
            method: "POST",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          })
        ).status;
      const results = [await send("/collections", record)];
      for (const feature of features) {
        results.push(await send("/collections/examples/items", feature));
      }
      return results;
    },
    [collection, items] as const,
  );
  assert.deepEqual([...new Set(statuses)], [201]);
}

test("scenes are found by area, time and words; list, map and address are in step", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/"));
  await page.getByRole("link", { name: "Catalogue", exact: true }).click();
  await page.getByText("4 results").waitFor();
  await page.getByRole("application", { name: "Footprints of the results" }).waitFor();
  await checkAccessibility(page, new URL(page.url()).pathname);
  // The area of Lommel, typed.
  await page.getByLabel("Area").fill("5,51,6,52");
  await page.getByRole("button", { name: "Search", exact: true }).click();
  await page.getByText("1 result", { exact: true }).waitFor();
  await page.getByRole("link", { name: /Lommel/ }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("bbox"), "5,51,6,52");
  // The address opens the same search elsewhere.
  const address = page.url();
  await page.goto(portal("/"));
  await page.goto(address);
  await page.getByText("1 result", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByText("4 results").waitFor();
  // A month of the histogram.
  await page.getByRole("button", { name: /^2019-04: 1$/ }).click();
  await page.getByText("1 result", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("To", { exact: true }).inputValue(), "2019-04-30");
  await page.getByRole("button", { name: "Clear", exact: true }).click();
  await page.getByText("4 results").waitFor();
  await page.getByLabel("Text").fill("burley");
  await page.getByLabel("Text").press("Enter");
  await page.getByText("1 result", { exact: true }).waitFor();
  await page.getByRole("link", { name: /Lake Burley/ }).waitFor();
});

test(
  "a condition that cannot be understood is explained at its field, and nothing found is said",
  { skip },
  async () => {
    const { page } = eric;
    await page.goto(portal("/catalogue"));
    await page.getByLabel("Condition (CQL2)").fill("platform = ");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.locator("[aria-invalid=true]").waitFor();
    await page.getByLabel("Condition (CQL2)").fill("platform = 'none'");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByText("Nothing found").waitFor();
    await page.getByLabel("Area").fill("north,south");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByText("Four numbers: west,south,east,north in degrees").waitFor();
  },
);

test("a collection, an item with its assets, and the item in the form of a process", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/catalogue/collections"));
  await page.getByRole("link", { name: "Example scenes" }).click();
  await page.getByText("Crops of real scenes").waitFor();
  await checkAccessibility(page, new URL(page.url()).pathname);
  await page.getByRole("link", { name: /Lommel/ }).click();
  await page.getByRole("row", { name: /Green \(B03\)/ }).waitFor();
  await page.getByRole("cell", { name: "sentinel-2b" }).waitFor();
  await checkAccessibility(page, new URL(page.url()).pathname);
  await page.getByRole("button", { name: "Use in processing" }).click();
  await page.getByRole("dialog").waitFor();
});

test("the search is copied for other programs, with the public address of the catalogue", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/catalogue?collection=examples&clouds=20"));
  await page.getByRole("button", { name: "Copy as" }).click();
  await page.getByRole("menuitem", { name: "pystac-client" }).click();
  await page.getByText(`Client.open("${fixture.url("resource-catalogue", "/stac")}"`).waitFor();
});

test("home shows the latest scenes; the search finds them, pages and files from anywhere", { skip }, async () => {
  const browserUser = await fixture.open({ bypassCSP: true });
  await browserUser.logIn("eric");
  const { page } = browserUser;
  await page
    .getByRole("list", { name: "Latest scenes" })
    .getByRole("link", { name: /Lommel/ })
    .waitFor();
  await page.keyboard.press("Control+K");
  const field = page.getByRole("combobox", { name: "Search everything" });
  await field.fill("burley");
  await page.getByRole("option", { name: /Lake Burley/ }).waitFor();
  await checkAccessibility(page, "search");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
  await checkAccessibility(page, "search on a phone, dark");
  await page.setViewportSize({ width: 1280, height: 860 });
  await field.press("Enter");
  await page.waitForURL(/\/catalogue\/collections\/examples\/items\//);
  await page.getByRole("heading", { name: /Lake Burley/ }).waitFor();
  await page.keyboard.press("Control+K");
  await field.fill("deploy");
  await page.getByRole("option", { name: "Deploy a process" }).click();
  await page.waitForURL(/\/processing\/deploy$/);
  await browserUser.context.close();
});

test("a map goes to a place by its name, takes another base map, and an area from a file", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/catalogue"));
  await page.getByRole("application", { name: "Footprints of the results" }).waitFor();
  await page.getByRole("button", { name: "Find a place" }).click();
  await page.getByLabel("Place, or latitude and longitude").fill("maribor");
  await page.getByRole("button", { name: /^Maribor/ }).click();
  await page.getByText("Places: GeoNames (CC BY 4.0)").waitFor();
  await page.getByRole("button", { name: "Base map" }).click();
  await page.getByRole("menuitemradio", { name: "Plain" }).click();
  await page.getByText("Places: GeoNames (CC BY 4.0)").waitFor({ state: "hidden" });
  await page.reload();
  await page.getByRole("button", { name: "Base map" }).click();
  await page.getByRole("menuitemradio", { name: "Plain", checked: true }).waitFor();
  await page.keyboard.press("Escape");
  const area = {
    type: "Feature",
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [5, 51],
          [6, 51],
          [6, 52],
          [5, 51],
        ],
      ],
    },
  };
  const upload = (name: string, text: string) =>
    page
      .getByLabel("GeoJSON or KML file")
      .setInputFiles([{ name, mimeType: "application/json", buffer: Buffer.from(text) }]);
  await upload("field.geojson", "no area at all");
  await page.getByText("The file is neither GeoJSON nor KML.").waitFor();
  await upload("field.geojson", JSON.stringify(area));
  await page.getByText("1 result", { exact: true }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("bbox"), "5,51,6,52");
});

test("the owner of a workspace edits its own collections and items, and others do not see them", { skip }, async () => {
  const owner = await fixture.open();
  await owner.logIn("bob", "/workspaces/new");
  const { page } = owner;
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "No files here yet" }).waitFor();
  const belongsTo = page
    .getByRole("combobox", { name: "Belongs to" })
    .or(page.getByRole("textbox", { name: "Belongs to" }));
  await waitUntil("the catalogue knows of the workspace", async () => {
    await page.goto(portal("/catalogue/new-collection"));
    return (await belongsTo.first().inputValue()) === "ws-bob";
  });
  await page.getByLabel("Id").fill("bobs-fields");
  await page.getByLabel("Description").fill("Fields of bob");
  await page.getByLabel("License").fill("CC-BY-4.0");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/collections\/bobs-fields$/);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Description").fill("Fields of bob, mown");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/collections\/bobs-fields$/);
  await page.getByText("Fields of bob, mown").waitFor();
  const seen = await eric.page.evaluate(
    async () => (await fetch("/api/services/resource-catalogue/stac/collections/bobs-fields")).status,
  );
  assert.equal(seen, 404);
  await page.getByRole("link", { name: "New item" }).click();
  await page.waitForURL(/new-item$/);
  await page.getByLabel("Id").fill("meadow");
  await page.getByLabel("Title").fill("A meadow");
  await page.getByLabel("Date and time").fill("this morning");
  await page.getByLabel("Cloud cover (%)").fill("120");
  await page.getByLabel("Area").fill("5,51,6,52");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  // What the page finds itself, then what the catalogue does: each at its field.
  await page.getByText("A number from 0 to 100").waitFor();
  await page.getByLabel("Cloud cover (%)").fill("12");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.locator("input[aria-invalid=true]").waitFor();
  assert.equal(await page.getByLabel("Date and time").getAttribute("aria-invalid"), "true");
  await page.getByLabel("Date and time").fill("2026-06-01T10:00:00Z");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/bobs-fields\/items\/meadow$/);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Title").fill("A mown meadow");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.waitForURL(/bobs-fields\/items\/meadow$/);
  await page.getByRole("heading", { name: "A mown meadow" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("meadow");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/collections\/bobs-fields$/);
  await page.getByRole("heading", { name: "bobs-fields" }).waitFor();
  await page.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("textbox").fill("bobs-fields");
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.waitForURL(/catalogue\/collections$/);
  await owner.context.close();
});

test("an administrator adds a harvester, runs it, sees what is broken, and removes it", { skip }, async (t) => {
  const makeItem = (id: string, datetime: unknown) => ({
    type: "Feature",
    stac_version: "1.1.0",
    id,
    geometry: null,
    collection: "from-portal",
    properties: { datetime },
    links: [],
    assets: {},
  });
  const source = createServer((_request, response) => {
    response.setHeader("content-type", "application/json").end(
      JSON.stringify({
        type: "FeatureCollection",
        features: [makeItem("good", "2024-06-01T00:00:00Z"), makeItem("broken", 7)],
        links: [],
      }),
    );
  });
  await new Promise<void>((resolve) => source.listen(0, "127.0.0.1", resolve));
  t.after(() => source.close());
  const admin = await fixture.open();
  t.after(() => admin.context.close());
  await admin.logIn("admin");
  const { page } = admin;
  await page.goto(portal("/admin/registration"));
  await page.getByText("No harvesters").waitFor();
  await page.getByRole("button", { name: "Add harvester" }).click();
  const dialog = page.getByRole("dialog", { name: "Add harvester" });
  await dialog.getByLabel("Name").fill("neighbour");
  await dialog.getByLabel("Address").fill(`http://127.0.0.1:${(source.address() as AddressInfo).port}/search`);
  await dialog.getByLabel("Schedule").fill("whenever");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.getByText(/must be a cron expression/).waitFor();
  await dialog.getByLabel("Schedule").fill("");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Run neighbour" }).click();
  const harvesters = page.getByRole("table", { name: "Harvesters" });
  await harvesters.getByText("1 registered, 1 failed").waitFor();
  await checkAccessibility(page, new URL(page.url()).pathname);
  await page.getByRole("table", { name: "Registrations" }).getByRole("button", { name: "neighbour" }).click();
  const details = page.getByRole("dialog", { name: /^Registration \d+$/ });
  await details.getByRole("cell", { name: "broken", exact: true }).waitFor();
  await details.getByRole("button", { name: "Close" }).click();
  await details.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Remove neighbour" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove harvester" }).click();
  await page.getByText("No harvesters").waitFor();
});
test(
  "an administrator makes, changes and deletes a collection and an item; mistakes are shown at their fields",
  { skip },
  async () => {
    const admin = await fixture.open();
    await admin.logIn("admin");
    const { page } = admin;
    await page.goto(portal("/catalogue/collections"));
    await page.getByRole("link", { name: "New collection" }).click();
    await page.waitForURL(/new-collection$/);
    await page.getByLabel("Id").fill("made-here");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Say what the collection holds").waitFor();
    await page.getByLabel("Description").fill("Made in the browser");
    await page.getByLabel("License").fill("no license!");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    // The catalogue's own rule, at the field that it is about.
    await page.locator("input[aria-invalid=true]").waitFor();
    await page.getByLabel("License").fill("CC-BY-4.0");
    await checkAccessibility(page, new URL(page.url()).pathname);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/collections\/made-here$/);
    await page.getByText("Made in the browser").waitFor();

    await page.getByRole("link", { name: "New item" }).click();
    await page.waitForURL(/new-item$/);
    await page.getByLabel("Id").fill("first");
    await page.getByLabel("Title").fill("The first one");
    await page.getByLabel("Date and time").fill("yesterday");
    await page.getByLabel("Area").fill("5,51,6,52");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.locator("input[aria-invalid=true]").waitFor();
    await page.getByLabel("Date and time").fill("2026-06-01T10:00:00Z");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/made-here\/items\/first$/);
    await page.getByRole("heading", { name: "The first one" }).waitFor();

    await page.getByRole("link", { name: "Edit", exact: true }).click();
    await page.waitForURL(/first\/edit$/);
    await page.getByLabel("Title").fill("The renamed one");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.waitForURL(/items\/first$/);
    await page.getByRole("heading", { name: "The renamed one" }).waitFor();

    // Whoever may not change it is not offered to.
    await eric.page.goto(page.url());
    await eric.page.getByRole("heading", { name: "The renamed one" }).waitFor();
    assert.equal(await eric.page.getByRole("button", { name: "Delete" }).count(), 0);

    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("first");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/collections\/made-here$/);
    await page.getByRole("heading", { name: "made-here" }).waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("textbox").fill("made-here");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.waitForURL(/catalogue\/collections$/);
    await page.getByRole("heading", { name: "Catalogue" }).waitFor();
    await admin.context.close();
  },
);

test("no page had a fault in the console of the browser", { skip }, () => {
  // A refused condition is a 400 that the browser tells as well.
  assert.deepEqual(fixture.findFaults([/status of 4(?:00|04|22)/]), []);
});
