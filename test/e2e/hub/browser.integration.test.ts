import assert from "node:assert/strict";
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";
import type { Page } from "playwright-core";

import { checkAccessibility } from "../browser-assertions.ts";
import { giveToOwner } from "./give-to-owner.ts";
import {
  type HubBrowser,
  type HubFixture,
  needsNotebook,
  needsSingleuser,
  skipReason,
  startBrowser,
  startHub,
} from "./hub-fixture.ts";
import { runInKernel } from "./run-notebooks.ts";

const SCENE = join(import.meta.dirname, "../../../examples/scenes/maribor-0820");
const skip = skipWithoutChromium || skipReason();
const skipNotebook = skipWithoutChromium || skipReason(needsNotebook);
const skipSingleuser = skipWithoutChromium || skipReason(needsNotebook, needsSingleuser);
let hub: HubFixture;
let browser: HubBrowser;

before(async () => {
  if (skip === false) {
    hub = await startHub({
      REQUIRE_OBJSTORE: "true",
      REQUIRE_WORKSPACE_API: "true",
      REQUIRE_DATA_ACCESS: "true",
      REQUIRE_DATA_ACCESS_PROTECTION: "false",
      REQUIRE_ADES: "true",
    });
    const { status, stderr } = await runCommand(
      join(import.meta.dirname, "../../../deploy/bin/create-workspace"),
      ["-W", "eric", "--cluster", hub.cluster.name],
      {
        env: hub.cluster.env,
      },
    );
    assert.equal(status, 0, stderr);
    browser = await startBrowser(hub);
  }
});
after(async () => {
  await browser?.browser.close();
  await hub?.close();
});

async function startServer(page: Page, profile: string, name: string): Promise<void> {
  await page.goto(`${hub.hubUrl}/hub/spawn`);
  await page.locator(`#profile-${profile}`).check();
  await page.getByLabel(/^Name/).fill(name);
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL((url) => url.host.startsWith(`eric--${name}.`));
}

async function runCell(page: Page, code: string, shown: string | RegExp): Promise<void> {
  const cell = page.locator(".jp-Notebook .jp-CodeCell").last();
  await cell.locator(".cm-content").click();
  await page.keyboard.insertText(code);
  await page.keyboard.press("Shift+Enter");
  await page.locator(".jp-OutputArea-output").filter({ hasText: shown }).last().waitFor();
}

test("Debian's notebook runs with the workspace as files; nobody else gets in", { skip: skipNotebook }, async () => {
  const homes = join(hub.cluster.directory, "volumes/proc/application-hub/homes");
  const scene = join(homes, "eric/workspace/scene");
  mkdirSync(scene, { recursive: true });
  copyFileSync(join(SCENE, "B04.tif"), join(scene, "red.tif"));
  copyFileSync(join(SCENE, "B08.tif"), join(scene, "nir.tif"));
  giveToOwner(homes, scene);
  const { page, context } = await browser.open("eric");
  // As from a link in a README: the server is started on the way, and the next link finds it.
  await page.goto(`${hub.hubUrl}/hub/user-redirect/tree/workspace`);
  await page.waitForURL(/\/hub\/spawn\?next=/);
  await page.locator("#profile-notebook").check();
  await page.getByLabel(/^Name/).fill("nb");
  await page.getByRole("button", { name: "Start", exact: true }).click();
  await page.waitForURL((url) => url.host.startsWith("eric--nb.") && url.pathname === "/user/eric/nb/tree/workspace");
  await page.getByRole("link", { name: "scene" }).waitFor();
  await page.goto(`${hub.hubUrl}/hub/user-redirect/tree`);
  await page.waitForURL((url) => url.host.startsWith("eric--nb.") && url.pathname === "/user/eric/nb/tree");
  // As files, and soon in the bucket as well.
  await page.getByRole("link", { name: "workspace" }).click();
  await page.getByRole("link", { name: "scene" }).click();
  await page.getByRole("link", { name: "red.tif" }).waitFor();
  const result = await runInKernel(
    page,
    'import numpy, os, swath, time\nwhile "scene/nir.tif" not in swath.Files().list():\n    time.sleep(0.5)\nr, n = (numpy.array(swath.open(f"s3://ws-eric/scene/{b}.tif", max_size=128))[0].astype(float) for b in ("red", "nir"))\nprint("ndvi", r.shape, round(float(numpy.nanmean((n - r) / numpy.maximum(n + r, 1))), 2))\nprint(os.listdir("/home"), os.path.exists("/root/.bashrc"))\nimport socket\ntry:\n    socket.create_connection(("127.0.0.1", 5432), 1)\n    print("reached")\nexcept OSError:\n    print("alone")',
  );
  assert.match(result, /ndvi \(\d+, \d+\) 0\.\d+/);
  assert.match(result, /\['eric'\] False/);
  assert.match(result, /alone/);
  const bob = await browser.open("bob");
  await bob.page.goto(`http://eric--nb.${hub.hubHost}/`);
  await bob.page.getByRole("heading", { name: "Not your server" }).waitFor();
  // By a link that its owner makes.
  const made = await hub.api("eric", "POST", "/share-codes/eric/nb", {});
  assert.equal(made.status, 200, made.text);
  await bob.page.goto(made.body.full_accept_url);
  await bob.page.getByRole("heading", { name: "A server that eric shares" }).waitFor();
  await bob.page.getByRole("button", { name: "Accept" }).click();
  await bob.page.waitForURL((url) => url.host.startsWith("eric--nb."));
  await bob.context.close();
  await context.close();
});

test(
  "a notebook in the browser computes NDVI from a scene of the workspace and shows it",
  { skip: skipNotebook },
  async () => {
    const { page, context, origins } = await browser.open("eric");
    await startServer(page, "jupyterlite", "lite");
    // Thirty megabytes of scripts are loaded and compiled first.
    await page.locator(".jp-DirListing-item").filter({ hasText: "3-run-a-package" }).waitFor({ timeout: 180_000 });
    await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click();
    await runCell(page, "import swath; print(swath.environment()['user'])", "eric");
    await runCell(page, "print(swath.Files().list('scene/'))", "scene/nir.tif");
    await runCell(
      page,
      'red, nir = (swath.open(f"s3://ws-eric/scene/{band}.tif", max_size=128) for band in ("red", "nir")); index = swath.ndvi(red, nir); print("mean", round(sum(index.bands[0]) / len(index.bands[0]), 2), index.shape)',
      /mean 0?\.\d+ \(1, \d+, \d+\)/,
    );
    await runCell(page, "index", "");
    await page.locator(".jp-OutputArea-output img").last().waitFor();
    const picture = await page.locator(".jp-OutputArea-output img").last().getAttribute("src");
    assert.match(picture ?? "", /^data:image\/png;base64,[\w+/=\s]{4000,}$/);
    // A job from the browser.
    await runCell(page, 'job = swath.run("echo", {"message": "from a cell"}); print(job.wait().status)', "successful");
    assert.deepEqual(
      [...origins].filter((origin) => !origin.includes(hub.cluster.domain) && !/^(data|blob|null)/.test(origin)),
      [],
      "nothing is fetched from elsewhere",
    );
    // Logging out ends it there as well.
    await page.goto(`${hub.hubUrl}/hub/logout`);
    const response = await page.goto(`http://eric--lite.${hub.hubHost}/jupyter-lite.json`);
    assert.ok(response !== null && new URL(response.url()).host !== `eric--lite.${hub.hubHost}`, response?.url());
    await context.close();
  },
);

test("the unmodified jupyterhub-singleuser logs people in by the hub", { skip: skipSingleuser }, async () => {
  const { page, context } = await browser.open("eric");
  await startServer(page, "hub-singleuser", "su");
  await page.getByText("Select items to perform actions on them").waitFor();
  assert.match(page.url(), /\/user\/eric\/su\/tree/);
  await context.close();
});

test("pages are accessible, on a phone too", { skip }, async () => {
  const { page, context } = await browser.open("admin");
  const checked = await context.browser()?.newContext({
    storageState: await context.storageState(),
    bypassCSP: true,
    viewport: { width: 375, height: 700 },
  });
  assert.ok(checked);
  const phone = await checked.newPage();
  for (const path of ["/hub/spawn", "/hub/home", "/hub/admin", "/hub/admin/profiles", "/hub/token", "/hub/nothing"]) {
    await phone.goto(`${hub.hubUrl}${path}`);
    await phone.locator("h1").first().waitFor();
    await checkAccessibility(phone, path);
    assert.ok(
      await phone.evaluate("document.documentElement.scrollWidth <= innerWidth + 1"),
      `${path} is wider than the phone`,
    );
  }
  await phone.goto(`${hub.hubUrl}/hub/admin/profiles`);
  await phone
    .getByRole("textbox", { name: "Profiles" })
    .fill("profiles:\n  - id: x\n    groups: [a]\n    definition: { display_name: X, slug: 'Not good' }\n");
  await phone.getByRole("button", { name: "Save" }).click();
  await phone.getByText("profiles[0].definition.slug").waitFor();
  await checkAccessibility(phone, "a broken profile file");
  await checked.close();
  await page.close();
  await context.close();
});
