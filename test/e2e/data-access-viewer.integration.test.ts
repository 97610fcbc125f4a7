import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { type Server, createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type Page } from "playwright-core";

import { buildWebPages } from "../../cli/web-pages.ts";
import { checkAccessibility } from "./browser-assertions.ts";

// The viewer on data access's own host: what is shown, over time, side by side, its values and files.
const skip = skipWithoutChromium;
const ROOT = join(import.meta.dirname, "../..");
const VIEW = "/explore?layer=scenes&style=ndvi&at=15.3,46.35,10.5";

let service: ChildProcess;
let browser: Browser;
let url = "";
/** A host of base maps, and what was asked of it. */
let maps: Server;
const asked: string[] = [];
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
before(async () => {
  if (skip !== false) {
    return;
  }
  await buildWebPages({ components: ["data-access"], stdout: process.stdout });
  const [port = 0, mapPort = 0] = await findFreePorts(2);
  maps = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.writeHead(200, { "content-type": "image/png" }).end(PIXEL);
  }).listen(mapPort, "127.0.0.1");
  url = `http://127.0.0.1:${port}`;
  service = spawn(process.execPath, [programFile("data-access/main.ts")], {
    env: {
      ...compiledCode,
      LOG_LEVEL: "error",
      LAYERS_FOLDER: join(ROOT, "examples/scenes"),
      BASE_MAPS: `Streets=http://127.0.0.1:${mapPort}/xyz/{z}/{x}/{y}.png|Relief=http://127.0.0.1:${mapPort}/wmts?TileMatrix={TileMatrix}&TileRow={TileRow}&TileCol={TileCol}`,
      LISTEN: `127.0.0.1:${port}`,
      MANAGEMENT_LISTEN: "127.0.0.1:0",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await waitUntil("data access", async () => (await fetch(`${url}/conformance`)).ok);
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  service?.kill("SIGKILL");
  maps?.close();
});

async function open(
  path: string,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<{ page: Page; faults: string[]; tiles: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const tiles: string[] = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  page.on("response", (response) => {
    if (response.url().includes("/tiles/WebMercatorQuad/") && response.status() === 200) {
      tiles.push(response.url());
    }
  });
  await page.goto(`${url}${path}`);
  await page.getByLabel("Layer", { exact: true }).first().waitFor();
  return { page, faults, tiles };
}

test("programs get the landing document at /, people the viewer", { skip }, async () => {
  const landing = (await (await fetch(`${url}/`)).json()) as { links: { rel: string }[] };
  assert.ok(landing.links.some(({ rel }) => rel === "wcs"));
  const page = await fetch(`${url}/`, { headers: { accept: "text/html" } });
  assert.match(await page.text(), /<div id="root">/);
  assert.equal((await fetch(`${url}/collections/none/nothing`)).status, 404);
});

test("a link to a layer goes where the layer is, also before its extent is known", { skip }, async () => {
  // As the portal links to an item: its layer is in no list, so its extent comes after the map.
  for (const [folder, lon, lat] of [
    ["lommel", 5.26, 51.25],
    ["maribor-0820", 15.6, 46.5],
  ] as const) {
    const { id } = JSON.parse(await readFile(join(ROOT, "examples/scenes", folder, "item.json"), "utf8")) as {
      id: string;
    };
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, bypassCSP: true });
    const page = await context.newPage();
    // The map has moved for the first time by then.
    await page.route(/\/collections(\/|\?|$)/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.continue();
    });
    await page.goto(`${url}/explore?layer=${encodeURIComponent(`scenes__${id}`)}`);
    await waitUntil(`the map is at ${folder}`, async () => {
      const [x = 0, y = 0, zoom = 0] = (new URL(page.url()).searchParams.get("at") ?? "").split(",").map(Number);
      return zoom > 5 && Math.hypot(x - lon, y - lat) < 1;
    });
    await context.close();
  }
});

test("a link opens the same view: day, style, comparison, values at a point", { skip }, async () => {
  const { page, faults, tiles } = await open(VIEW);
  await waitUntil("tiles", () => tiles.length > 3);
  assert.ok(tiles.every((each) => each.includes("style=ndvi")));
  await page.getByRole("button", { name: "Earlier day" }).click();
  await page.getByText("2023-08-20 (1 scene)").waitFor();
  await waitUntil("tiles of that day", () => tiles.some((each) => each.includes("datetime=2023-08-20")));
  await page.getByLabel("Compare with another").check();
  const other = page.getByRole("group", { name: "Right of the divider" });
  await other.getByRole("button", { name: "Earlier day" }).click();
  await waitUntil("tiles of the other day", () => tiles.some((each) => each.includes("datetime=2023-08-18")));
  // With the keyboard: the place below the cross.
  await page.getByRole("application", { name: "Layers on a map" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: /2 scenes, values from/ }).waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  assert.equal(csv.trim().split("\r\n").length, 3);

  const again = await open(new URL(page.url()).pathname + new URL(page.url()).search);
  await again.page.getByText("2023-08-20 (1 scene)").waitFor();
  assert.ok(await again.page.getByLabel("Compare with another").isChecked());
  assert.deepEqual([...faults, ...again.faults], []);
});

test("a style is edited over the values in sight, and an area is charted and downloaded", { skip }, async () => {
  const { page, faults, tiles } = await open(VIEW);
  await page.getByRole("button", { name: "Edit style" }).click();
  const formula = page.getByLabel("Formula");
  await formula.fill("nir/10000");
  await formula.press("Enter");
  await page.getByRole("img", { name: /nir\/10000: values from/ }).waitFor();
  await page.getByRole("button", { name: "Fit to what is in sight" }).click();
  await waitUntil("tiles of the formula", () => tiles.some((each) => /expression=nir.*rescale=0\./.test(each)));
  await page.getByText("Of an area").click();
  await page.getByRole("button", { name: "Draw an area" }).click();
  const map = page.getByRole("application", { name: "Layers on a map" });
  await map.focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  await page.waitForTimeout(500);
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: /the area \(mean\)/ }).waitFor();
  const link = page.getByRole("link", { name: "Download" });
  const file = await fetch(`${url}${new URL((await link.getAttribute("href")) ?? "", url).href.slice(url.length)}`);
  assert.equal(file.status, 200);
  assert.match(file.headers.get("content-type") ?? "", /image\/tiff/);
  assert.deepEqual(faults, []);
});

test("a profile along a line that is drawn with keys: chart, values at a place of it, a file", { skip }, async () => {
  const { page, faults } = await open(`${VIEW}&time=2023-08-20`);
  await page.getByText("Along a line").click();
  await page.getByRole("button", { name: "Draw a line" }).click();
  const map = page.getByRole("application", { name: "Layers on a map" });
  await map.focus();
  await page.keyboard.press("Enter");
  await page.getByText(/^Corner 1 at 46\.\d+° north/).waitFor();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.getByText(/^Corner 2 at .*press it twice at the last corner/).waitFor();
  await page.keyboard.press("Enter");
  await page.getByRole("img", { name: /^the line: .* km, values from/ }).waitFor();
  const place = page.getByRole("slider", { name: "Place on the line" });
  await place.focus();
  await page.keyboard.press("End");
  await page
    .getByText(/^.*(nir|red).*: -?\d/)
    .first()
    .waitFor();
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download CSV" }).click();
  const csv = (await readFile(await (await download).path(), "utf8")).trim().split("\r\n");
  assert.equal(csv.length, 501);
  assert.match(csv[0] ?? "", /^longitude,latitude,kilometres,".*nir/);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("Draw a line for the values along it").waitFor();
  assert.deepEqual(faults, []);
});

test("a profile along a line that is drawn by touch on a phone", { skip }, async () => {
  const { page, faults } = await open(VIEW, { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true });
  await page.getByText("Along a line").tap();
  await page.getByRole("button", { name: "Draw a line" }).tap();
  const map = page.getByRole("application", { name: "Layers on a map" });
  await map.scrollIntoViewIfNeeded();
  const bounds = await map.boundingBox();
  assert.ok(bounds);
  const [x, y] = [bounds.x + bounds.width / 2, bounds.y + bounds.height / 2];
  await page.touchscreen.tap(x - 60, y);
  await page.waitForTimeout(400);
  await page.touchscreen.tap(x + 60, y + 20);
  await page.waitForTimeout(400);
  await page.touchscreen.tap(x + 60, y + 20);
  await page.getByRole("img", { name: /^the line: .* km, values from/ }).waitFor();
  await page.waitForFunction("document.documentElement.scrollWidth === 390");
  await checkAccessibility(page, "Explore with a profile");
  assert.deepEqual(faults, []);
});

test("the operator's base maps are offered, of XYZ and of WMTS, within the policy of the page", { skip }, async () => {
  const { page, faults } = await open(VIEW, { bypassCSP: false });
  for (const [name, path] of [
    ["Streets", /^\/xyz\/(10\/55\d\/36\d|11\/11\d\d\/7[23]\d)\.png$/],
    ["Relief", /^\/wmts\?TileMatrix=(10&TileRow=36\d&TileCol=55\d|11&TileRow=7[23]\d&TileCol=11\d\d)$/],
  ] as const) {
    await page.getByRole("button", { name: "Base map" }).click();
    await page.getByRole("menuitemradio", { name }).click();
    await waitUntil(`tiles of ${name}`, () => asked.some((each) => path.test(each)), 60);
  }
  assert.deepEqual(faults, []);
});

test("everybody can use it: light and dark, on a phone", { skip }, async () => {
  for (const colorScheme of ["light", "dark"] as const) {
    const { page } = await open(VIEW, { colorScheme, viewport: { width: 390, height: 800 } });
    await page.getByRole("button", { name: "Edit style" }).click();
    await page.getByLabel("Compare with another").check();
    await page.getByLabel("Formula").first().waitFor();
    await page.waitForFunction("document.documentElement.scrollWidth === 390");
    await checkAccessibility(page, `Explore, ${colorScheme}`);
  }
});
