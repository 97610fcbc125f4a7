// The STAC browser of the hub: private scenes of the catalogue with pictures by data access, and a catalogue of files in a bucket.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { skipWithoutChromium } from "@swath/testing/chromium";
import type { Locator, Page } from "playwright-core";

import { checkAccessibility, checkLightAndDark } from "../browser-assertions.ts";
import { putExampleScenes } from "./example-scenes.ts";
import { type HubBrowser, type HubFixture, skipReason, startBrowser, startHub } from "./hub-fixture.ts";

const skip = skipWithoutChromium || skipReason();
let hub: HubFixture;
let browser: HubBrowser;
let page: Page;
let origins: ReadonlySet<string>;

before(async () => {
  if (skip === false) {
    hub = await startHub({
      REQUIRE_OBJSTORE: "true",
      REQUIRE_WORKSPACE_API: "true",
      REQUIRE_RESOURCE_CATALOGUE: "true",
      REQUIRE_DATA_ACCESS: "true",
      REQUIRE_PORTAL: "true",
    });
    await putExampleScenes(hub);
    browser = await startBrowser(hub);
    ({ page, origins } = await browser.open("eric"));
    await page.goto(`${hub.hubUrl}/hub/spawn`);
    await page.locator("#profile-stac-browser").check();
    await page.getByLabel(/^Name/).fill("stac");
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.waitForURL((url) => url.host.startsWith("eric--stac."));
  }
});
after(async () => {
  await browser?.browser.close();
  await hub?.close();
});

const site = (path: string) => `http://eric--stac.${hub.hubHost}${path}`;
const browse = (address: string) => site(`/?href=${encodeURIComponent(address)}`);

/** Widths of the pictures in a list, once all are there; each shows more than one colour. */
async function readPictures(list: Locator, count: number): Promise<readonly number[]> {
  const widths: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const picture = list.getByRole("listitem").nth(index).locator("img");
    await list.getByRole("listitem").nth(index).scrollIntoViewIfNeeded();
    await picture.waitFor();
    widths.push(await readWidth(picture));
    const { colours } = await picture.evaluate(describe);
    assert.ok(colours > 16, `${colours} colours`);
  }
  return widths;
}

async function readWidth(picture: Locator): Promise<number> {
  await hub.until("it is loaded", async () => (await picture.evaluate(describe)).width > 0);
  return (await picture.evaluate(describe)).width;
}

/** Runs in the page. */
function describe(image: unknown): { width: number; colours: number } {
  interface Canvas {
    readonly getContext: (kind: string) => {
      readonly drawImage: (image: unknown, x: number, y: number) => void;
      readonly getImageData: (...box: number[]) => { readonly data: { readonly buffer: ArrayBuffer } };
    };
  }
  const { OffscreenCanvas: Made } = globalThis as unknown as { OffscreenCanvas: new (...size: number[]) => Canvas };
  const { naturalWidth: width, naturalHeight: height } = image as { naturalWidth: number; naturalHeight: number };
  if (width === 0) {
    return { width, colours: 0 };
  }
  const context = new Made(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  return { width, colours: new Set(new Uint32Array(context.getImageData(0, 0, width, height).data.buffer)).size };
}

test("from the catalogue to a private scene, with its picture, files and properties", { skip }, async () => {
  await page.getByRole("link", { name: "Example scenes" }).click();
  await page.getByText("Crops of real scenes").waitFor();
  await page.getByRole("application", { name: "Footprints of the items" }).waitFor();
  const list = page.getByRole("list", { name: "Items" });
  assert.equal(await list.getByRole("listitem").count(), 4);
  const widths = await readPictures(list, 4);
  assert.ok(
    widths.every((width) => width <= 128),
    widths.join(),
  );
  await list.getByRole("link", { name: /Lommel/ }).click();
  await page.getByText("The picture is drawn by data access.").waitFor();
  await page.getByRole("table", { name: "Properties" }).getByText("platform", { exact: true }).waitFor();
  const loading = page.waitForEvent("download");
  await page
    .getByRole("table", { name: "Assets" })
    .getByRole("button", { name: /^Download/ })
    .first()
    .click();
  assert.match((await loading).suggestedFilename(), /^B0\d\.tif$/);
  // The way back.
  await page.getByRole("navigation", { name: "Where this page is" }).getByRole("link").last().click();
  await page.getByRole("heading", { name: "Example scenes" }).waitFor();
});

test("a search by area and time", { skip }, async () => {
  await page.getByRole("link", { name: "Search", exact: true }).last().click();
  await page.getByText("4 of 4 items").waitFor();
  await page.getByLabel("Area").fill("5,51,6");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("Four numbers: west,south,east,north in degrees").waitFor();
  await page.getByLabel("Area").fill("5,51,6,52");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("1 of 1 items").waitFor();
  await page.getByLabel("To").fill("1980-01-01");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("0 of 0 items").waitFor();
});

test("a catalogue of files in the user's bucket; other hosts and nonsense are refused in words", { skip }, async () => {
  await page.goto(browse("s3://ws-eric/scenes/catalog.json"));
  await page.getByText("Four small optical scenes to try the platform with").waitFor();
  const list = page.getByRole("list", { name: "Items" });
  await list.getByRole("listitem").nth(3).waitFor();
  await list.getByRole("link", { name: /Lommel/ }).click();
  await page.getByRole("heading", { name: /Lommel/ }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get("href"), "s3://ws-eric/scenes/lommel/item.json");
  await page.goto(browse("s3://ws-bob/catalog.json"));
  await page.getByRole("alert").waitFor();
  await page.goto(browse("https://elsewhere.example.org/catalog.json"));
  await page.getByText(/elsewhere\.example\.org is not a host of the platform/).waitFor();
  await page.goto(browse("s3://ws-eric/scenes/lommel/B02.tif"));
  await page.getByRole("alert").waitFor();
  await page.getByRole("textbox", { name: "Address" }).fill("file:///etc/passwd");
  await page.getByRole("button", { name: "Open" }).click();
  await page.getByText("An address begins with https:// or s3://").waitFor();
  const foreign = [...origins].filter(
    (origin) => !origin.includes(hub.cluster.domain) && !/^(data|blob|null)/.test(origin),
  );
  assert.deepEqual(foreign, [], "nothing is fetched from elsewhere");
});

test("what a profile allows besides is in the policy of its pages alone", { skip }, async () => {
  const profiles = (hosts: string) =>
    `profiles:\n  - id: s\n    groups: ["*"]\n    definition: { display_name: S, slug: s, default: true }\n    embedded: { kind: browser, site: stac-browser, hosts: [${hosts}] }\n`;
  const save = (hosts: string) => hub.api("admin", "PUT", "/swath/profiles", { text: profiles(hosts) });
  assert.equal((await save("'*'")).status, 422);
  assert.equal((await save('"a.example.org; script-src *"')).status, 422);
  assert.equal((await save("stac.example.org")).status, 200);
  assert.ok([201, 202].includes((await hub.api("eric", "POST", "/users/eric/servers/open", { profile: "s" })).status));
  const policyOf = async (label: string) => {
    const headers = { authorization: `Bearer ${await hub.tokenOf("eric")}`, accept: "text/html" };
    const { headers: answered } = await hub.send("GET", `http://${label}.${hub.hubHost}/`, { headers });
    return String(answered["content-security-policy"]);
  };
  await hub.until("it is ready", async () => (await policyOf("eric--open")).includes("connect-src"));
  assert.match(await policyOf("eric--open"), /connect-src 'self' https:\/\/stac\.example\.org;/);
  assert.match(await policyOf("eric--stac"), /connect-src 'self';/);
});

test("the portal shows pictures of the same scenes, drawn by data access, to who may see them", { skip }, async () => {
  const portal = (path: string) => `http://portal.${hub.cluster.domain}:${hub.cluster.port}${path}`;
  const eric = await page.context().newPage();
  await eric.goto(portal("/"));
  await eric.getByRole("link", { name: "Log in" }).click();
  await eric.getByRole("button", { name: /^Logged in as/ }).waitFor();
  const home = await readPictures(eric.getByRole("list", { name: "Latest scenes" }), 4);
  await eric.goto(portal("/catalogue"));
  const list = await readPictures(eric.getByRole("list", { name: "Results" }), 4);
  assert.ok(Math.max(...home, ...list) <= 192, [...home, ...list].join());
  await eric.getByRole("link", { name: /Lommel/ }).click();
  const preview = eric.getByRole("img", { name: /^Preview of .*Lommel/ });
  await preview.waitFor();
  const address = await preview.getAttribute("src");
  assert.ok((await readWidth(preview)) > 256);
  // Kept by the browser, which asks whether it is still good.
  const first = await eric.evaluate<string>(`fetch(${JSON.stringify(address)}).then((a) => a.headers.get("etag"))`);
  assert.match(first, /^"/);
  const bob = await browser.open("bob");
  await bob.page.goto(portal("/"));
  await bob.page.getByRole("link", { name: "Log in" }).click();
  await bob.page.getByRole("button", { name: /^Logged in as/ }).waitFor();
  assert.equal(await bob.page.evaluate(`fetch(${JSON.stringify(address)}).then((a) => a.status)`), 404);
  // What cannot be drawn has a sign in its place, and says so on its page.
  await eric.route("**/api/services/data-access/**", (route) => route.abort());
  await eric.reload();
  await eric.getByText("There is no preview of this item.").waitFor();
  await eric.goto(portal("/catalogue"));
  await eric.getByRole("list", { name: "Results" }).locator("svg").nth(3).waitFor();
  await bob.context.close();
  await eric.close();
});

test("pages are accessible, on a phone too", { skip }, async () => {
  const checked = await browser.browser.newContext({
    storageState: await page.context().storageState(),
    bypassCSP: true,
    viewport: { width: 375, height: 700 },
  });
  const phone = await checked.newPage();
  const catalogue = `http://resource-catalogue.${hub.cluster.domain}:${hub.cluster.port}/stac`;
  const pages = {
    "the catalogue": [site("/"), "Collections"],
    "a collection": [browse(`${catalogue}/collections/scenes`), "Items"],
    "an item": [browse(`${catalogue}/collections/scenes/items/lommel-2018`), "Assets"],
    search: [site("/search"), "Search"],
  } as const;
  const [item] = (
    await hub.send("GET", `${catalogue}/collections/scenes/items?limit=1`, {
      headers: { authorization: `Bearer ${await hub.tokenOf("eric")}` },
    })
  ).body.features as { id: string }[];
  for (const [name, [address, heading]] of Object.entries(pages)) {
    await phone.goto(address.replace("lommel-2018", encodeURIComponent(item?.id ?? "")));
    await phone.getByRole("heading", { name: heading, exact: true }).waitFor();
    await checkLightAndDark(phone, name);
    assert.ok(
      await phone.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"),
      `${name} is wider than the phone`,
    );
  }
  await phone.goto(browse("https://elsewhere.example.org/catalog.json"));
  await phone.getByRole("alert").waitFor();
  await checkAccessibility(phone, "a refused host");
  await checked.close();
});
