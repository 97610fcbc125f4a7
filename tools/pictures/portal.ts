// Takes the pictures of the portal in docs/images from a deployed platform, where eric has a workspace with the example
// scenes, the example packages and a finished job of the vegetation index: pictures/portal.ts <domain> <ports> [part of names], for
// example `platform.localhost 80:80,443:443`. Make them small afterwards: pngquant --ext .png --force 64 docs/images/portal-*.png
import { join } from "node:path";

import type { TestCluster } from "@swath/testing";
import type { Page } from "playwright-core";

import { openPortal } from "../../test/e2e/portal/portal-browser.ts";

const [domain = "platform.localhost", ports = "80:80,443:443", only = ""] = process.argv.slice(2);
const images = join(import.meta.dirname, "../../docs/images");
const fixture = await openPortal({
  domain,
  env: { LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${ports}` },
} as unknown as TestCluster);

/** What is on a picture: an address, and what is done there first. */
type Picture = readonly [name: string, path: string, prepare?: (page: Page) => Promise<void>];

const PHONE = { width: 390, height: 844 };

const settled = (page: Page) => page.waitForLoadState("networkidle").catch(() => {});
const tab = (name: string) => (page: Page) => page.getByRole("tab", { name }).click();

interface TakeOptions {
  readonly phone?: boolean;
  readonly schemes?: readonly ("light" | "dark")[];
}

/** Takes pictures as somebody, or as nobody who is logged in. */
async function take(
  username: string | undefined,
  pictures: readonly Picture[],
  { phone = false, schemes = ["light", "dark"] }: TakeOptions = {},
): Promise<void> {
  if (!pictures.some(([picture]) => picture.includes(only))) {
    return;
  }
  const { page, context, logIn } = await fixture.open();
  if (username !== undefined) {
    await logIn(username);
  }
  if (phone) {
    await page.setViewportSize(PHONE);
  }
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    for (const [name, path, prepare] of pictures.filter(([picture]) => picture.includes(only))) {
      await page.goto(fixture.url("portal", path));
      await settled(page);
      await prepare?.(page);
      await settled(page);
      await page.getByText("Drawing …").waitFor({ state: "detached" });
      // Buttons that were just pressed go back to their colours.
      await page.waitForTimeout(600);
      await page.screenshot({ path: join(images, `portal-${name}-${colorScheme}.png`) });
    }
  }
  await context.close();
}

const showGraph = (page: Page) => page.locator(".swath-step").first().waitFor();

async function showRaster(page: Page): Promise<void> {
  await page.getByRole("img", { name: /values from/ }).waitFor();
  // Where the graphics are drawn by software, for a while nothing of a raster is there.
  await page.waitForTimeout(12_000);
}

async function chooseScene(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Choose scenes", exact: true }).click();
  await page.getByRole("button", { name: "scenes", exact: true }).click();
  await page.getByRole("button", { name: "lommel", exact: true }).click();
  await page.getByRole("checkbox", { name: /Lommel/ }).check();
}

async function fillForm(page: Page): Promise<void> {
  await chooseScene(page);
  await page.getByRole("button", { name: "Use" }).click();
  for (const [side, degrees] of [
    ["West", "5.24"],
    ["South", "51.23"],
    ["East", "5.28"],
    ["North", "51.28"],
  ] as const) {
    await page.getByLabel(side).fill(degrees);
  }
  await page.getByRole("button", { name: "Run", exact: true }).scrollIntoViewIfNeeded();
}

async function openWrongPackage(page: Page): Promise<void> {
  const text = await page.evaluate(
    async () => (await fetch("/api/services/ades/eric/ogc-api/processes/ndvi/package")).text(),
    undefined,
  );
  const wrong = text.replace('run: "#ndvi-scene"', 'run: "#ndvi-scen"');
  await page
    .locator("input[type=file]")
    .setInputFiles([{ name: "ndvi.cwl", mimeType: "text/plain", buffer: Buffer.from(wrong) }]);
  await page.getByText("Not valid:").waitFor();
  await page.getByRole("button", { name: /^Line/ }).first().click();
}

async function findJob(): Promise<string> {
  const { page, context, logIn } = await fixture.open();
  await logIn("eric");
  const id = await page.evaluate(async () => {
    const query = "status=successful&processID=ndvi&limit=1";
    const response = await fetch(`/api/services/ades/eric/ogc-api/jobs?${query}`);
    return ((await response.json()) as { jobs: readonly { jobID: string }[] }).jobs[0]?.jobID;
  });
  await context.close();
  if (id === undefined) {
    throw new Error("eric has no finished job of the process ndvi: run it first");
  }
  return `/processing/jobs/${id}`;
}

const workspace = "/workspaces/ws-eric";
const job = await findJob();
await take(undefined, [["landing", "/"]]);
await take("eric", [
  ["home", "/"],
  ["workspaces", "/workspaces"],
  ["create-workspace", "/workspaces/new"],
  ["files", `${workspace}/files?prefix=scenes/lommel/`],
  ["preview", `${workspace}/files?prefix=scenes/lommel/&file=scenes/lommel/item.json`],
  ["access", `${workspace}/access`],
  ["members", `${workspace}/members`],
  ["settings", `${workspace}/settings`],
  ["processes", "/processing/processes"],
  ["process", "/processing/processes/ndvi", showGraph],
  ["deploy", "/processing/deploy", openWrongPackage],
  ["choose-scenes", "/processing/processes/ndvi/run", chooseScene],
  ["run", "/processing/processes/ndvi/run", fillForm],
  ["jobs", "/processing/jobs"],
  ["job-result", job, showRaster],
  ["job-steps", job, async (page) => tab("Steps")(page).then(() => showGraph(page))],
  ["job-log", job, tab("Log")],
  ["job-files", job, tab("Files")],
]);
await take("eric", [["job-result-phone", job, showRaster]], { phone: true, schemes: ["dark"] });
await take(
  "eric",
  [
    ["home-phone", "/"],
    ["files-phone", `${workspace}/files?prefix=scenes/lommel/`],
    ["run-phone", "/processing/processes/ndvi/run", fillForm],
  ],
  { phone: true, schemes: ["light"] },
);
await take("admin", [
  ["admin-pods", "/admin/pods"],
  ["admin-log", "/admin/pods", (page) => page.getByRole("link", { name: /^workspace-api-/ }).click()],
  ["admin-users", "/admin/users"],
  ["admin-configuration", "/admin/configuration"],
]);
await fixture.close();
