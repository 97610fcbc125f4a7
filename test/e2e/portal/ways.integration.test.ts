import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type TestCluster, waitUntil } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { type PortalFixture, type BrowserUser, deployPortal, endLogins, fillInLogin } from "./portal-browser.ts";

// What happens to people's pages: logins that end, other windows, going back, wrong addresses, services that are away.
const skip = skipWithoutChromium;

let cluster: TestCluster;
let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let eric: BrowserUser;
before(async () => {
  if (skip === false) {
    ({ cluster, fixture, close } = await deployPortal());
    eric = await fixture.open();
    await eric.logIn("eric", "/workspaces/new");
    await eric.page.getByRole("button", { name: "Create", exact: true }).click();
    await heading(eric, "No files here yet").waitFor();
    await waitUntil("a file is in the workspace", () =>
      eric.page.evaluate(
        async () =>
          (await fetch("/api/workspaces/ws-eric/files/kept.geojson", { method: "PUT", body: '{"type":"Feature"}' })).ok,
      ),
    );
  }
});
after(() => close?.());

const portal = (path: string) => fixture.url("portal", path);
const heading = ({ page }: BrowserUser, name: string | RegExp) => page.getByRole("heading", { name }).first();

test("a login that ends while a form is filled in takes nothing of it away", { skip }, async () => {
  const { page, context } = eric;
  await page.goto(portal("/workspaces/new"));
  await page.getByLabel("Name").fill("atlas of fields");
  await endLogins(fixture, "eric");
  const token = (await context.cookies(portal("/"))).find(({ name }) => name === "auth_user_id")?.value ?? "";
  const headers = { cookie: `auth_user_id=${token}` };
  await waitUntil("services have heard of it", async () => {
    const { status } = await fixture.send("workspace-api", "/workspaces/ws-eric", { headers });
    return status === 401;
  });
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Your login has ended" });
  await dialog.waitFor();
  const opening = context.waitForEvent("page");
  await dialog.getByRole("link", { name: "Log in again" }).click();
  const other = await opening;
  await fillInLogin(other, "eric");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await page.getByLabel("Name").inputValue(), "atlas of fields");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  // The request is made in the name of the new login; the name is an operator's to give.
  await page.getByText(/You may name a workspace after yourself only/).waitFor();
  await other.close();
});

test("going back leads through the pages as they were", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/"));
  await page.getByRole("link", { name: "Workspaces", exact: true }).click();
  // The home page lists the workspace too: its link would leave the list of workspaces out of the history.
  await page.waitForURL(/\/workspaces$/);
  await page.getByRole("heading", { name: "Workspaces", level: 1 }).waitFor();
  await page.getByRole("link", { name: "ws-eric" }).click();
  await page.getByRole("button", { name: "kept.geojson" }).click();
  await page.getByLabel("Contents of kept.geojson").waitFor();
  await page.goBack();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "kept.geojson" }).waitFor();
  assert.match(page.url(), /\/workspaces\/ws-eric\/files$/);
  await page.goBack();
  await page.waitForURL(/\/workspaces$/);
  await page.getByRole("heading", { name: "Workspaces", level: 1 }).waitFor();
  await page.goBack();
  await heading(eric, /^Hello/).waitFor();
  await page.goForward();
  await page.waitForURL(/\/workspaces$/);
  await page.getByRole("heading", { name: "Workspaces", level: 1 }).waitFor();
});

test("addresses that lead nowhere say so and how to go on", { skip }, async () => {
  const { page } = eric;
  for (const [path, name, way] of [
    ["/nowhere", "There is no such page", "Home"],
    ["/workspaces/ws-eric/nothing", "There is no such page", "Home"],
    ["/workspaces/ws-nobody/files", "There is no such workspace", "Back to workspaces"],
    ["/processing/processes/nothing", "There is no such process", "Back to processes"],
    ["/processing/processes/nothing/run", "There is no such process", "Back to processes"],
    ["/processing/jobs/00000000-0000-4000-8000-000000000000", "There is no such job", "Back to jobs"],
  ] as const) {
    await page.goto(portal(path));
    await heading(eric, name).waitFor();
    await page.locator("main").getByRole("link", { name: way }).waitFor();
  }
});

test(
  "with the workspaces' service away, stopped or killed, the rest goes on, and so do they afterwards",
  { skip },
  async () => {
    const { page } = eric;
    const { pid = 0 } = await cluster.pod("workspace-api");
    // Twice, each time for less than the half minute after which it would be started anew.
    process.kill(pid, "SIGSTOP");
    try {
      await page.goto(portal("/"));
      await page.getByText("Workspaces does not answer: no answer within 3 seconds.").waitFor();
      await heading(eric, "No jobs yet").waitFor();
      await page.getByRole("alert").filter({ hasText: "Workspaces does not answer" }).waitFor();
    } finally {
      process.kill(pid, "SIGCONT");
    }
    await page.getByRole("link", { name: "ws-eric" }).waitFor();
    await waitUntil("it is ready again", async () => (await cluster.pod("workspace-api")).ready);
    process.kill(pid, "SIGSTOP");
    try {
      await page.goto(portal("/workspaces"));
      await page.getByRole("alert").filter({ hasText: "Workspaces does not answer" }).waitFor();
    } finally {
      process.kill(pid, "SIGKILL");
    }
    await page.getByRole("link", { name: "ws-eric" }).waitFor();
    await page.goto(portal("/"));
    await page.getByRole("link", { name: "ws-eric" }).waitFor();
  },
);

test("a click while there is no connection keeps the page, and the other one opens afterwards", { skip }, async () => {
  const browserUser = await fixture.open();
  await browserUser.logIn("eric");
  const { page, context } = browserUser;
  await page.getByRole("link", { name: "ws-eric" }).waitFor();
  // Nothing of it was loaded before, so it cannot be opened now.
  await context.setOffline(true);
  await page.getByRole("link", { name: "Processing", exact: true }).click();
  await page.getByText("The page opens when the connection is back.").waitFor();
  await heading(browserUser, /^Hello/).waitFor();
  await context.setOffline(false);
  await page.getByRole("heading", { name: "Processes", level: 1 }).waitFor();
  await page.getByText("The page opens when the connection is back.").waitFor({ state: "detached" });
  await context.close();
});

test("who is no user becomes no member, and that is said", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/workspaces/ws-eric/members"));
  await page.getByLabel("User name").fill("nobody-of-that-name");
  await page.getByRole("button", { name: "Add", exact: true }).click();
  await page.getByText('There is no user "nobody-of-that-name"').first().waitFor();
  await page.reload();
  await page.getByText("No other members.").waitFor();
  assert.equal(await page.getByRole("cell", { name: "nobody-of-that-name" }).count(), 0);
});

test("a login that comes to nothing leads to a page that says why, and to another one", { skip }, async () => {
  const browserUser = await fixture.open();
  const { page } = browserUser;
  await page.goto(portal("/auth/callback?error=access_denied&state=of-another-window"));
  await heading(browserUser, "The login was not completed").waitFor();
  assert.equal(page.url(), portal("/login-failed?why=expired"));
  await page.getByRole("link", { name: "Log in" }).click();
  await fillInLogin(page, "bob");
  await heading(browserUser, /^Hello/).waitFor();
  await browserUser.context.close();
});

test("logging out in one window ends the others", { skip }, async () => {
  const { page, context } = eric;
  const second = await context.newPage();
  await second.goto(portal("/workspaces"));
  await second.getByRole("link", { name: "ws-eric" }).waitFor();
  await page.goto(portal("/"));
  await page.getByRole("button", { name: /^Logged in as/ }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByText("You are logged out").waitFor();
  await second.getByText("You are logged out").waitFor();
  assert.equal(await second.getByText("ws-eric").count(), 0);
  // The login leads back to what this window showed.
  await second.getByRole("link", { name: "Log in" }).click();
  await fillInLogin(second, "eric");
  await second.waitForURL(portal("/workspaces"));
  await second.getByRole("link", { name: "ws-eric" }).waitFor();
  // And the first window, where nobody is logged in as far as it knows, comes along.
  await page.bringToFront();
  await page.reload();
  await page.getByRole("button", { name: /^Logged in as/ }).waitFor();
});

test("no page had a fault in the console of the browser", { skip }, () => {
  const expected = [
    // What was refused on purpose, and services that were away.
    /status of (40[134]|422) .*\/api\/(workspaces|services)\//,
    /net::ERR_INTERNET_DISCONNECTED/,
    /status of 50[234] .*\/api\//,
  ];
  assert.deepEqual(fixture.findFaults(expected), []);
});
