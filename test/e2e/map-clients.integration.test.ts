import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import type { Browser } from "playwright-core";

// OpenLayers and Leaflet, as others build their pages with them, on the interfaces of data access, from a page of another host.
const skip = skipWithoutChromium;
const ROOT = join(import.meta.dirname, "../..");
const FILES: Readonly<Record<string, readonly [string, string]>> = {
  "/": ["text/html", "<!doctype html><html><body><div id=map style='width:512px;height:512px'></div></body></html>"],
  "/ol.js": ["text/javascript", readPackage(import.meta.resolve("ol/dist/ol.js"))],
  "/leaflet.js": ["text/javascript", readPackage(import.meta.resolve("leaflet/dist/leaflet.js"))],
};

function readPackage(address: string): string {
  return readFileSync(fileURLToPath(address), "utf8");
}

let service: ChildProcess;
let pages: Server;
let browser: Browser;
let url = "";
let page = "";
before(async () => {
  if (skip !== false) {
    return;
  }
  const [port = 0] = await findFreePorts(1);
  url = `http://127.0.0.1:${port}`;
  service = spawn(process.execPath, [programFile("data-access/main.ts")], {
    env: {
      ...compiledCode,
      LOG_LEVEL: "error",
      LAYERS_FOLDER: join(ROOT, "examples/scenes"),
      LISTEN: `127.0.0.1:${port}`,
      MANAGEMENT_LISTEN: "127.0.0.1:0",
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  pages = createServer((request, response) => {
    const [type, body] = FILES[request.url ?? ""] ?? ["text/plain", ""];
    response.setHeader("content-type", type).end(body);
  });
  await new Promise<void>((resolve) => pages.listen(0, "127.0.0.1", resolve));
  page = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
  await waitUntil("data access", async () => (await fetch(`${url}/conformance`)).ok);
  browser = await launchChromium();
});
after(async () => {
  await browser?.close();
  service?.kill("SIGKILL");
  pages?.close();
});

interface Seen {
  readonly loaded: number;
  readonly failed: number;
  /** Pixels of the map that are not its background. */
  readonly painted: number;
}

/** Runs a script in a page that has the library; it makes `layer` and, for OpenLayers, `map`. */
async function see(library: "ol" | "leaflet", script: string): Promise<Seen> {
  const context = await browser.newContext({ viewport: { width: 512, height: 512 } });
  try {
    const tab = await context.newPage();
    const faults: string[] = [];
    tab.on("pageerror", (error) => faults.push(error.message));
    await tab.goto(page);
    await tab.addScriptTag({ url: `${page}${library}.js` });
    const seen = await tab.evaluate(`(async () => { const base = ${JSON.stringify(url)}; ${script} })()`);
    assert.deepEqual(faults, []);
    return seen as Seen;
  } finally {
    await context.close();
  }
}

/** A map of OpenLayers with a source, until it has all it wants. The canvas can be read only where the service allows other hosts. */
const showSource = (source: string, kind: "Tile" | "Image") => `
  let [loaded, failed] = [0, 0];
  const source = ${source};
  source.on(["tileloadend", "imageloadend"], () => { loaded += 1; });
  source.on(["tileloaderror", "imageloaderror"], () => { failed += 1; });
  // Some read a document first.
  while (source.getState() === "loading") await new Promise((resolve) => source.once("change", resolve));
  if (source.getState() !== "ready") throw new Error("the source is " + source.getState());
  const map = new ol.Map({
    target: "map",
    controls: [],
    layers: [new ol.layer.${kind}({ source })],
    view: new ol.View({ center: ol.proj.fromLonLat([15.3, 46.35]), zoom: 10 }),
  });
  await new Promise((resolve) => map.once("rendercomplete", resolve));
  const canvas = document.querySelector("canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let painted = 0;
  for (let at = 3; at < data.length; at += 4) painted += data[at] > 0 ? 1 : 0;
  return { loaded, failed, painted };`;

const SOURCES: Readonly<Record<string, readonly [string, "Tile" | "Image"]>> = {
  "WMS 1.3.0 in tiles": [
    `new ol.source.TileWMS({ url: base + "/ows", crossOrigin: "anonymous", params: { LAYERS: "scenes", STYLES: "ndvi", TRANSPARENT: true } })`,
    "Tile",
  ],
  "WMS 1.1.1 as one picture, with a time": [
    `new ol.source.ImageWMS({ url: base + "/ows", crossOrigin: "anonymous", params: { LAYERS: "scenes", STYLES: "ndvi", VERSION: "1.1.1", TIME: "2023-08-20" } })`,
    "Image",
  ],
  "WMTS by its capabilities": [
    `new ol.source.WMTS({ ...ol.source.WMTS.optionsFromCapabilities(
        new ol.format.WMTSCapabilities().read(await (await fetch(base + "/wmts/1.0.0/WMTSCapabilities.xml")).text()),
        { layer: "scenes", style: "ndvi", matrixSet: "WebMercatorQuad" },
      ), crossOrigin: "anonymous" })`,
    "Tile",
  ],
  "OGC API Tiles": [
    `new ol.source.OGCMapTile({ url: base + "/collections/scenes/styles/ndvi/map/tiles/WebMercatorQuad", crossOrigin: "anonymous" })`,
    "Tile",
  ],
  TileJSON: [
    `new ol.source.TileJSON({ url: base + "/collections/scenes/WebMercatorQuad/tilejson.json?style=ndvi", crossOrigin: "anonymous" })`,
    "Tile",
  ],
};

for (const [name, [source, kind]] of Object.entries(SOURCES)) {
  test(`OpenLayers shows ${name}`, { skip }, async () => {
    const { loaded, failed, painted } = await see("ol", showSource(source, kind));
    assert.equal(failed, 0);
    assert.ok(loaded > 0 && painted > 10_000, `${loaded} loaded, ${painted} pixels are painted`);
  });
}

const LAYERS: Readonly<Record<string, string>> = {
  WMS: `L.tileLayer.wms(base + "/ows", { layers: "scenes", styles: "ndvi", format: "image/png", transparent: true, version: "1.3.0" })`,
  "tiles by their address": `L.tileLayer(base + "/collections/scenes/tiles/WebMercatorQuad/{z}/{x}/{y}.png?style=ndvi")`,
  "WMTS by its address": `L.tileLayer(base + "/ows?service=WMTS&request=GetTile&version=1.0.0&layer=scenes&style=ndvi&tilematrixset=WebMercatorQuad&tilematrix={z}&tilerow={y}&tilecol={x}&format=image/png")`,
};

for (const [name, layer] of Object.entries(LAYERS)) {
  test(`Leaflet shows ${name}`, { skip }, async () => {
    const { loaded, failed } = await see(
      "leaflet",
      `
  let [loaded, failed] = [0, 0];
  const map = L.map("map").setView([46.35, 15.3], 10);
  const layer = ${layer};
  layer.on("tileload", () => { loaded += 1; }).on("tileerror", () => { failed += 1; });
  await new Promise((resolve) => layer.on("load", resolve).addTo(map));
  return { loaded, failed, painted: 0 };`,
    );
    assert.equal(failed, 0);
    assert.ok(loaded > 3, `${loaded} tiles are loaded`);
  });
}
