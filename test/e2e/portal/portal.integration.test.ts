import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { brotliCompressSync } from "node:zlib";

import { type TestCluster, waitUntil } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { checkAccessibility, checkForms, tabTo } from "../browser-assertions.ts";
import { type PortalFixture, type BrowserUser, deployPortal } from "./portal-browser.ts";

const skip = skipWithoutChromium;
const FILE = JSON.stringify({ type: "FeatureCollection", features: [] });

let cluster: TestCluster;
let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let eric: BrowserUser;
before(async () => {
  if (skip === false) {
    ({ cluster, fixture, close } = await deployPortal({
      REQUIRE_DUMMY_SERVICE: "true",
      REQUIRE_DUMMY_SERVICE_PROTECTION: "true",
    }));
    eric = await fixture.open();
  }
});
after(() => close?.());

const portal = (path: string) => fixture.url("portal", path);
const heading = ({ page }: BrowserUser, name: string | RegExp) => page.getByRole("heading", { name }).first();

test("a login comes back to where it was asked for, and its cookies are for the domain alone", { skip }, async () => {
  await eric.logIn("eric", "/workspaces?from=mail");
  await heading(eric, "No workspace yet").waitFor();
  const cookies = await eric.context.cookies(portal("/"));
  for (const name of ["auth_user_id", "auth_refresh_token"]) {
    const cookie = cookies.find((found) => found.name === name);
    assert.equal(cookie?.domain, `.${cluster.domain}`, name);
    assert.deepEqual([cookie.httpOnly, cookie.secure, cookie.sameSite, cookie.expires], [true, true, "Strict", -1]);
  }
  assert.equal(await eric.page.evaluate("document.cookie"), "");
});

test("a workspace is made, takes files, shows them and gives them back", { skip }, async () => {
  const { page } = eric;
  await page.getByRole("link", { name: "Create workspace" }).first().click();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.waitForURL(/\/workspaces\/ws-eric\/files$/);
  await heading(eric, "No files here yet").waitFor();

  const file = { name: "fields & woods.geojson", mimeType: "application/geo+json", buffer: Buffer.from(FILE) };
  await page.locator("input[type=file]").first().setInputFiles([file]);
  await page.getByText("1 of 1 uploaded").waitFor();
  await page.getByRole("button", { name: file.name }).click();
  await page.getByLabel(`Contents of ${file.name}`).getByText("FeatureCollection").waitFor();
  const downloading = page.waitForEvent("download");
  await page.getByRole("dialog").getByRole("link", { name: "Download" }).click();
  assert.equal(readFileSync(await (await downloading).path(), "utf8"), FILE);
  await page.getByRole("button", { name: "Close" }).click();

  await page.getByRole("checkbox", { name: `Choose ${file.name}` }).check();
  await page.getByRole("button", { name: "Delete 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await heading(eric, "No files here yet").waitFor();
  await page
    .locator("input[type=file]")
    .first()
    .setInputFiles([{ ...file, name: "kept.geojson" }]);
  await page.getByRole("button", { name: "kept.geojson" }).waitFor();
});

test("keys are hidden until they are asked for, and are in the commands that are copied", { skip }, async () => {
  const { page } = eric;
  await page.getByRole("tab", { name: "Access" }).click();
  await page.getByRole("button", { name: "Copy: Secret key" }).click();
  const secret = await page.evaluate("navigator.clipboard.readText()");
  assert.ok(typeof secret === "string" && secret.length > 20);
  assert.ok(!(await page.innerText("main")).includes(secret));
  for (const program of ["aws", "rclone", "Python", "GDAL"]) {
    await page.getByRole("tab", { name: program }).click();
    await page.getByRole("button", { name: `Copy for ${program}` }).click();
    assert.match(String(await page.evaluate("navigator.clipboard.readText()")), new RegExp(`ws-eric[^]*`), program);
  }
  await page.getByRole("switch", { name: "Show the secret key" }).check();
  assert.ok((await page.innerText("main")).includes(secret));
});

test("others see nothing of it until they are let in, and then only what they may", { skip }, async () => {
  const bob = await fixture.open();
  await bob.logIn("bob", "/workspaces");
  await heading(bob, "No workspace yet").waitFor();
  await bob.page.goto(portal("/workspaces/ws-eric/files"));
  await heading(bob, "There is no such workspace").waitFor();
  const read = (path: string) => bob.page.evaluate(async (address) => (await fetch(address)).status, path);
  assert.equal(await read("/api/workspaces/ws-eric/files/kept.geojson"), 403);
  assert.equal(await read("/api/workspaces/ws-eric/folder"), 403);

  await eric.page.getByRole("tab", { name: "Members" }).click();
  await eric.page.getByLabel("User name").fill("bob");
  await eric.page.getByRole("button", { name: "Add", exact: true }).click();
  await eric.page.getByRole("cell", { name: "bob", exact: true }).waitFor();
  await waitUntil("bob is let in", async () => (await read("/api/workspaces/ws-eric/files/kept.geojson")) === 200);
  // Home says who shared what.
  await bob.page.goto(portal("/"));
  const shared = bob.page.getByRole("list", { name: "Shared with me" });
  await shared.getByText("by eric, read").waitFor();
  await shared.getByRole("link", { name: "ws-eric" }).click();
  await bob.page.getByRole("button", { name: "kept.geojson" }).waitFor();
  assert.equal(await bob.page.getByRole("button", { name: "Upload" }).count(), 0);
  const write = await bob.page.evaluate(
    async () => (await fetch("/api/workspaces/ws-eric/files/planted", { method: "PUT", body: "x" })).status,
  );
  assert.equal(write, 403);
  await bob.context.close();
});

test("the same browser may use the workspace API's page and every protected service", { skip }, async () => {
  const page = await eric.context.newPage();
  // Without the operation's own address: the page opens that one by itself at some time, and a click would close it again.
  await page.goto(fixture.url("workspace-api", "/docs"));
  const operation = page.locator(".opblock-get").first();
  await operation.locator(".opblock-summary-control").click();
  await operation.getByRole("button", { name: "Execute" }).click();
  await operation.locator(".live-responses-table").getByText('"ws-eric"').first().waitFor();
  for (const [service, path] of [
    ["dummy-service", "/eric/x"],
    ["ades", "/eric/ogc-api/processes"],
    ["workspace-api", "/workspaces/ws-eric"],
  ] as const) {
    const response = await page.goto(fixture.url(service, path));
    assert.equal(response?.status(), 200, service);
    assert.equal(page.url(), fixture.url(service, path));
  }
  assert.equal((await page.goto(fixture.url("dummy-service", "/bob/x")))?.status(), 403);
  await page.close();
});

test(
  "administrators see pods, their logs and the configuration, and no secret; nobody else does",
  { skip },
  async () => {
    const admin = await fixture.open();
    await admin.logIn("admin", "/admin/pods");
    const { page } = admin;
    await page.getByText(/pods are Running or Completed/).waitFor();
    await page.getByRole("link", { name: /^workspace-api-/ }).click();
    await page.getByRole("log").getByText("listening").first().waitFor();
    await page.goto(portal("/admin/configuration"));
    await page.getByText("IDENTITY_SERVICE_ADMIN_PASSWORD").waitFor();
    const configuration = await page.innerText("main");
    assert.match(configuration, /REQUIRE_DUMMY_SERVICE_PROTECTION\s+true\s+environment/);
    assert.match(configuration, /IDENTITY_SERVICE_ADMIN_PASSWORD\s+\*{8}/);
    assert.doesNotMatch(configuration.replaceAll(/derived: changeme[^\n]*/g, ""), /changeme/);
    await page.goto(portal("/admin/use?days=7&gib=1000"));
    const use = page.getByRole("table", { name: "Use by user" });
    await use.getByRole("cell", { name: "eric" }).waitFor();
    await page.getByRole("figure", { name: /^Processing hours a day/ }).waitFor();
    await page.goto(portal("/admin/audit"));
    await page.getByLabel("Action or target").fill("login");
    await page.getByRole("button", { name: "Search", exact: true }).click();
    await page.getByRole("table", { name: "Audit trail" }).getByText("LOGIN", { exact: true }).first().waitFor();
    await page.goto(portal("/admin/users"));
    await page.getByRole("link", { name: "Users" }).click();
    await page.waitForURL(/\/console\/realms\/master\/users/);
    await admin.context.close();

    await eric.page.goto(portal("/admin/pods"));
    await heading(eric, "For administrators").waitFor();
    for (const path of ["pods", "users", "health", "configuration", "pods/um/identity/log"]) {
      const status = await eric.page.evaluate(async (at) => (await fetch(`/api/admin/${at}`)).status, path);
      assert.equal(status, 403, path);
    }
  },
);

test("a service that is down is named, and the rest goes on", { skip }, async () => {
  const { pid } = await cluster.pod("ades");
  process.kill(pid ?? 0, "SIGSTOP");
  try {
    await eric.page.goto(portal("/"));
    await eric.page.getByText("Processing does not answer: no answer within 3 seconds.").waitFor();
    await eric.page.getByRole("link", { name: "ws-eric" }).waitFor();
  } finally {
    process.kill(pid ?? 0, "SIGCONT");
  }
  await eric.page.getByText("Processing does not answer:").waitFor({ state: "detached" });
});

test("no page has a serious accessibility fault or is wider than a phone, in light and dark", { skip }, async () => {
  const admin = await fixture.open({ bypassCSP: true });
  const { page } = admin;
  await page.goto(portal("/"));
  await page.getByRole("link", { name: "Log in" }).waitFor();
  await checkAccessibility(page, "landing page");
  await admin.logIn("admin");
  const files = "/workspaces/ws-eric";
  const pages = [
    ["/", /^Hello/],
    ["/workspaces", "Workspaces"],
    ["/workspaces/new", "Create workspace"],
    [`${files}/files`, "ws-eric"],
    [`${files}/files?file=kept.geojson`, "kept.geojson"],
    [`${files}/access`, "Keys"],
    [`${files}/members`, "Add member"],
    [`${files}/settings`, "Quota"],
    ["/admin/pods", "Administration"],
    ["/admin/use?hour=0.5&gib=0.1", "Use"],
    ["/admin/users", "Roles and groups"],
    ["/admin/configuration", "Arguments"],
    ["/nowhere", "There is no such page"],
  ] as const;
  for (const [path, name] of pages) {
    await page.goto(portal(path));
    await heading(admin, name).waitFor();
    await checkForms(page, path);
  }
  await admin.context.close();
});

test("by keyboard alone: to the content, to a workspace, to its keys", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/"));
  await page.getByRole("link", { name: "ws-eric" }).waitFor();
  await tabTo(page, "Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(page, "ws-eric");
  await page.keyboard.press("Enter");
  await page.waitForURL(/ws-eric\/files/);
  await page.getByRole("tab", { name: "Files" }).waitFor();
  await tabTo(page, "Files");
  await page.keyboard.press("ArrowRight");
  await page.waitForURL(/ws-eric\/access/);
  await heading(eric, "Keys").waitFor();
});

test(
  "the first load is small, stays within the deployment, and has no script of its own in the page",
  { skip },
  async (t) => {
    const browserUser = await fixture.open();
    await browserUser.logIn("eric");
    const { page, requests } = browserUser;
    // As it goes over a network: on a machine that others cannot reach nothing is compressed.
    const sizes: Promise<number>[] = [];
    page.on("response", (loaded) => {
      if (loaded.request().resourceType() === "script") {
        sizes.push(loaded.body().then((body) => brotliCompressSync(body).length));
      }
    });
    const response = await page.goto(portal("/"));
    await page.getByRole("link", { name: "ws-eric" }).waitFor();
    await page.waitForLoadState("networkidle");
    const scripts = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    t.diagnostic(`${scripts} bytes of script in the first load`);
    assert.ok(scripts > 50_000 && scripts <= 250_000, `${scripts} bytes of script`);
    const policy = response?.headers()["content-security-policy"] ?? "";
    assert.match(policy, /script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe/);
    for (const request of requests) {
      assert.ok(new URL(request).hostname.endsWith(`.${cluster.domain}`) || request.startsWith("data:"), request);
      assert.doesNotMatch(request, /eyJ[\w-]{20,}\.eyJ|access_token|refresh_token/);
    }
    await browserUser.context.close();
  },
);

test("other hosts of the deployment cannot act in somebody's name, nor read", { skip }, async () => {
  const cookies = await eric.context.cookies(portal("/"));
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const own = portal("");
  const attempts: readonly Readonly<Record<string, string>>[] = [
    {},
    { origin: fixture.url("objstore", "") },
    { origin: "null" },
    { origin: `${own}.evil.org` },
    { origin: own, "sec-fetch-site": "same-site" },
    { origin: own, "sec-fetch-site": "cross-site" },
  ];
  for (const headers of attempts) {
    const to = async (method: string, path: string) =>
      (await fixture.send("portal", path, { method, headers: { cookie, ...headers } })).status;
    const what = JSON.stringify(headers);
    assert.equal(await to("POST", "/auth/logout"), 403, what);
    assert.equal(await to("PUT", "/api/workspaces/ws-eric/files/planted"), 403, what);
    assert.equal(await to("DELETE", "/api/services/workspace-api/workspaces/ws-eric"), 403, what);
  }
  const read = (headers: Record<string, string>) =>
    fixture.send("portal", "/api/session", { headers: { cookie, ...headers } });
  assert.equal((await read({ "sec-fetch-site": "same-site" })).status, 403);
  assert.match((await read({ "sec-fetch-site": "same-origin" })).body, /"eric"/);
  // Planted second cookies of the names make both worthless instead of logging somebody in as somebody else.
  assert.deepEqual(
    JSON.parse(
      (
        await fixture.send("portal", "/api/session", {
          headers: { cookie: `auth_user_id=x; auth_refresh_token=y; ${cookie}` },
        })
      ).body,
    ),
    { user: null },
  );
  for (const target of ["//evil.org", "https://evil.org/", "/\\evil.org"]) {
    const page = await eric.context.newPage();
    await page.goto(portal(`/auth/login?return=${encodeURIComponent(target)}`));
    assert.equal(page.url(), portal("/"), target);
    await page.close();
  }
});

test("logging out ends the login everywhere, and no token was ever logged", { skip }, async () => {
  const { page, context } = eric;
  const tokens = (await context.cookies(portal("/"))).filter(({ name }) => name.startsWith("auth_"));
  const cookie = tokens.map(({ name, value }) => `${name}=${value}`).join("; ");
  const send = (service: string, path: string) => fixture.send(service, path, { headers: { cookie } });
  assert.equal((await send("dummy-service", "/eric/x")).status, 200);
  await page.goto(portal("/"));
  await page.getByRole("button", { name: /^Logged in as/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByText("You are logged out").waitFor();
  assert.deepEqual(
    (await context.cookies(portal("/"))).filter(({ name }) => name.startsWith("auth_")),
    [],
  );
  // The cookies as somebody may have kept them, once the gatekeeper has heard of it.
  await waitUntil("they are refused", async () => (await send("dummy-service", "/eric/x")).status === 401);
  assert.deepEqual(JSON.parse((await send("portal", "/api/session")).body), { user: null });
  assert.equal((await send("portal", "/api/services/ades/eric/ogc-api/jobs")).status, 401);
  await page.goto(portal("/auth/login"));
  await page.getByLabel("Password").waitFor();

  const logs = join(cluster.directory, "logs");
  for (const name of readdirSync(logs)) {
    const text = readFileSync(join(logs, name), "utf8");
    for (const { value } of tokens) {
      assert.ok(!text.includes(value.slice(-60)), name);
    }
    assert.doesNotMatch(text, /[?&](code|state)=[\w-]{10}/, name);
  }
});

test("no page had a fault in the console of the browser", { skip }, () => {
  const expected = [
    // A member who was just let in is known before the keys to the storage are.
    /status of 409 .*\/api\/workspaces\/ws-eric\/files\/kept\.geojson/,
    // What was refused on purpose.
    /status of 40[134] .*\/api\/(workspaces|admin|services)\//,
    /status of 403 .*dummy-service.*\/bob\/x/,
    /status of 50[234] .*\/api\//,
    // Browsers ask for one where an answer is no page: those of protected services.
    /status of 40[34] .*\/favicon\.ico/,
  ];
  assert.deepEqual(fixture.findFaults(expected), []);
});
