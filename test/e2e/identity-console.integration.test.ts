import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

import { buildWebPages } from "../../cli/web-pages.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import { checkForms, tabTo } from "./browser-assertions.ts";

const skip = skipWithoutChromium;

let identity: TestIdentity;
let browser: Browser | undefined;
let context: BrowserContext | undefined;
before(async () => {
  identity = await startIdentity();
  if (skip === false) {
    await buildWebPages({ components: ["identity"], stdout: process.stderr });
    browser = await launchChromium();
    // The checker is put into the page, which the pages' own policy forbids.
    context = await browser.newContext({ bypassCSP: true });
    context.setDefaultTimeout(120_000);
  }
});
after(async () => {
  await browser?.close();
  await identity.close();
});

const at = (path: string) => `${identity.url}/console/realms/master${path}`;

/** What is said at the edge of the window; closed, so that the next of the same words is another. */
async function waitForNotice(page: Page, text: RegExp): Promise<void> {
  const notice = page.getByRole("alert").filter({ hasText: text }).first();
  await notice.waitFor();
  await notice.getByRole("button", { name: "Close" }).click();
  await notice.waitFor({ state: "detached" });
}

const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page
    .getByRole("combobox", { name: label })
    .or(page.getByRole("textbox", { name: label }))
    .first()
    .click();
  await page.getByRole("option", { name: option }).click();
}

async function logIn(page: Page): Promise<void> {
  await page.goto(`${identity.url}/`);
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
  await page.waitForURL(at("/users"));
  await waitForApp(page);
}

/** Until the page that the service sent is the app. */
const waitForApp = (page: Page) => page.locator("[data-mantine-color-scheme] .mantine-AppShell-root").waitFor();

test("in Chromium: users, a protected client, who may, events", { skip }, async () => {
  const page = await context!.newPage();
  await logIn(page);
  await page.getByRole("link", { name: "Create user" }).click();
  await field(page, "User name").fill("carol");
  await page.locator("input[name=password]").fill("carols password");
  await page.getByRole("checkbox", { name: "The user must choose" }).uncheck();
  await page.getByRole("dialog").getByRole("button", { name: "Create user" }).click();
  await waitForNotice(page, /created/);
  assert.equal(typeof (await identity.logIn("carol", "carols password")).access_token, "string");

  await page.getByRole("button", { name: "Disable" }).click();
  await waitForNotice(page, /disabled/);
  assert.equal((await identity.logIn("carol", "carols password")).error, "invalid_grant");
  await page.getByRole("button", { name: "Enable" }).click();
  await waitForNotice(page, /enabled/);
  await page.locator("input[name=password]").fill("another password");
  await page.locator("input[name=again]").fill("other password");
  await page.getByRole("checkbox", { name: "must choose another" }).uncheck();
  await page.getByRole("button", { name: "Set password" }).click();
  // What was wrong is said at the form.
  await page.getByRole("alert").filter({ hasText: "not the same" }).waitFor();
  await page.locator("input[name=password]").fill("another password");
  await page.locator("input[name=again]").fill("another password");
  await page.getByRole("checkbox", { name: "must choose another" }).uncheck();
  await page.getByRole("button", { name: "Set password" }).click();
  await waitForNotice(page, /password is set/);
  assert.equal(typeof (await identity.logIn("carol", "another password")).access_token, "string");
  await choose(page, "Another role", "offline_access");
  await page.getByRole("button", { name: "Give role" }).click();
  await waitForNotice(page, /given/);

  await page.getByRole("link", { name: "Clients" }).click();
  await page.getByRole("link", { name: "Create client" }).click();
  await field(page, "Client id").fill("maps");
  await field(page, "Redirect URIs").fill("https://maps.platform.test/*");
  await page.getByRole("checkbox", { name: "Protects resources" }).check();
  await page.getByRole("dialog").getByRole("button", { name: "Create client" }).click();
  await waitForNotice(page, /created/);
  assert.equal(await field(page, "Redirect URIs").inputValue(), "https://maps.platform.test/*");
  await page.getByRole("link", { name: "Protected resources" }).click();
  await page.getByRole("link", { name: "Create resource" }).click();
  await field(page, "Name").fill("carol");
  await field(page, "Paths").fill("carol");
  await page.getByRole("dialog").getByRole("button", { name: "Create resource" }).click();
  await page.getByRole("dialog").getByRole("alert").filter({ hasText: "allowed: paths" }).waitFor();
  await field(page, "Paths").fill("/carol/*");
  await page.getByRole("dialog").getByRole("button", { name: "Create resource" }).click();
  await waitForNotice(page, /created/);
  await page.getByRole("link", { name: "users", exact: true }).click();
  await field(page, "Name").fill("carol only");
  await field(page, "Users").fill("carol");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await waitForNotice(page, /created/);
  await page.getByRole("link", { name: "Create permission" }).click();
  await field(page, "Name").fill("carol permission");
  await page.getByRole("checkbox", { name: "carol", exact: true }).check();
  await page.getByRole("checkbox", { name: "carol only" }).check();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await waitForNotice(page, /created/);
  for (const [user, response] of [
    ["carol", /granted\s*carol\s+may\s+use/],
    ["eric", /refused\s*eric\s+may not\s+use/],
  ] as const) {
    await field(page, "User").fill(user);
    await field(page, "Path").fill("/carol/x");
    await page.getByRole("button", { name: "Ask" }).click();
    await page.getByRole("status").filter({ hasText: response }).waitFor();
  }

  await page.getByRole("link", { name: "Events" }).click();
  const main = page.getByRole("main");
  await main.filter({ hasText: /LOGIN_ERROR/ }).waitFor();
  await page.getByRole("link", { name: "Changes by administrators" }).click();
  for (const what of [/users\/carol/, /clients\/maps/, /reset-password/, /AUTHORIZATION_RULES/]) {
    await main.filter({ hasText: what }).waitFor();
  }

  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("link", { name: "carol" }).click();
  await page.getByRole("link", { name: "Delete carol" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.filter({ hasText: "gone for good" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await identity.logIn("carol", "another password")).error, undefined);
  await page.getByRole("link", { name: "Delete carol" }).click();
  await dialog.getByRole("button", { name: "Delete carol" }).click();
  await waitForNotice(page, /deleted/);
  await page.waitForURL(at("/users"));
  assert.equal((await identity.logIn("carol", "another password")).error, "invalid_grant");
  await page.close();
});

test("in Chromium: by keyboard alone", { skip }, async () => {
  const page = await context!.newPage();
  await page.goto(at("/users"));
  await waitForApp(page);
  await tabTo(page, "Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(page, "Create user");
  await page.keyboard.press("Enter");
  await field(page, "User name").waitFor();
  await tabTo(page, "User name");
  await page.keyboard.type("keys");
  await page.keyboard.press("Enter");
  await waitForNotice(page, /created/);
  await page.getByRole("heading", { level: 1, name: "keys", exact: true }).waitFor();

  const bearer = (await identity.logIn("admin")).access_token as string;
  const [client] = (await identity.send("/admin/realms/master/clients?clientId=dummy-service", { bearer })).body;
  await page.goto(at(`/clients/${client.id}/protection/matrix`));
  await waitForApp(page);
  for (const [before, button, after] of [
    ["Why keys may not use eric", "Assign eric to keys", "Why keys may use eric"],
    ["Why keys may use eric", "Take eric back from keys", "Why keys may not use eric"],
  ] as const) {
    await page.getByRole("link", { name: before, exact: true }).waitFor();
    await tabTo(page, before);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: button }).waitFor();
    await tabTo(page, button);
    await page.keyboard.press("Enter");
    const question = page
      .getByRole("dialog")
      .filter({ hasText: /from now on|any more/ })
      .last();
    await question.waitFor();
    await tabTo(page, button.startsWith("Assign") ? "Assign" : "Take back");
    await page.keyboard.press("Enter");
    await page
      .getByRole("alert")
      .filter({ hasText: /assigned, and holds|taken back/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: button }).waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: after, exact: true }).waitFor();
  }
  await page.close();
});

test("in Chromium: an assignment that would let nobody in says why, and nothing is changed", { skip }, async () => {
  const bearer = (await identity.logIn("admin")).access_token as string;
  const send = async (path: string, json?: unknown) =>
    (await identity.send(`/admin/realms/master${path}`, { bearer, ...(json !== undefined && { json }) })).body;
  const [client] = await send("/clients?clientId=dummy-service");
  const rules = `/clients/${client.id}/authz/resource-server`;
  await send(`${rules}/resource`, { name: "lake", uris: ["/lake/*"] });
  const names = ["lake one", "lake two"];
  for (const name of names) {
    await send(`${rules}/policy/user`, { name, users: ["eric"] });
  }
  await send(`${rules}/permission/resource`, { name: "both", resources: ["lake"], policies: names });
  const page = await context!.newPage();
  await page.goto(at(`/clients/${client.id}/protection/matrix`));
  await waitForApp(page);
  await page.getByRole("link", { name: "Why bob may not use lake" }).click();
  await page.getByRole("button", { name: "Assign lake to bob" }).click();
  await page.getByRole("button", { name: "Assign", exact: true }).last().click();
  await page.getByRole("dialog").getByRole("alert").filter({ hasText: "both decides about it" }).waitFor();
  assert.deepEqual(await send(`${rules}/policy?name=assigned`), []);
  await page.close();
});

test("in Chromium: no serious accessibility fault, and nothing wider than a phone", { skip }, async () => {
  const ids = async (path: string) =>
    (await identity.send(`/admin/realms/master${path}`, { bearer: (await identity.logIn("admin")).access_token })).body;
  const user = (await ids("/users?username=eric"))[0].id as string;
  const client = (await ids("/clients?clientId=dummy-service"))[0].id as string;
  const rules = `/clients/${client}/authz/resource-server`;
  const resource = (await ids(`${rules}/resource?name=eric`))[0]["_id"] as string;
  const policy = (await ids(`${rules}/policy?name=eric&permission=false`))[0].id as string;
  const permission = (await ids(`${rules}/permission?name=eric`))[0].id as string;
  const role = (await ids("/roles/admin")).id as string;
  const protection = `/clients/${client}/protection`;
  const paths = [
    "/users",
    "/users/new",
    `/users/${user}`,
    `/users/${user}/delete`,
    "/clients",
    "/clients/new",
    `/clients/${client}`,
    `/clients/${client}/delete`,
    `${protection}?user=eric&path=/eric/x`,
    `${protection}/matrix`,
    `${protection}/matrix/roles`,
    `${protection}/matrix/users/${user}/${resource}`,
    `${protection}/resources/new`,
    `${protection}/resources/${resource}`,
    `${protection}/policies/new?type=role`,
    `${protection}/policies/${policy}`,
    `${protection}/permissions/new?type=scope`,
    `${protection}/permissions/${permission}`,
    "/roles",
    `/roles/${role}`,
    "/sessions",
    "/events",
    "/events/changes",
    "/settings",
  ].map(at);
  const page = await context!.newPage();
  for (const path of [...paths, `${identity.url}/console/new-realm`]) {
    assert.equal((await page.goto(path))?.status(), 200, path);
    await waitForApp(page);
    await checkForms(page, path);
  }
  await page.close();
});
