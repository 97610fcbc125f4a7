import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type BrowserContext, type Page } from "playwright-core";

import { PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import { checkForms } from "./in-browser.ts";

const skip = skipWithoutChromium;

let identity: TestIdentity;
let browser: Browser | undefined;
let context: BrowserContext | undefined;
before(async () => {
  identity = await startIdentity();
  if (skip === false) {
    browser = await launchChromium();
    // The checker is put into the page, which the pages' own policy forbids. Script of the pages there is none.
    context = await browser.newContext({ bypassCSP: true });
    context.setDefaultTimeout(120_000);
  }
});
after(async () => {
  await browser?.close();
  await identity.close();
});

const at = (path: string) => `${identity.url}/console/realms/master${path}`;

/** What the page that answers says of it; the page before may say something as well. */
const waitForStatus = (page: Page, text: RegExp) => page.getByRole("status").filter({ hasText: text }).waitFor();

async function logIn(page: Page): Promise<void> {
  await page.goto(`${identity.url}/`);
  await page.getByLabel("User name or e-mail").fill("admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
  await page.waitForURL(at("/users"));
}

test("in Chromium: users, a protected client, who may, events", { skip }, async () => {
  const page = await context!.newPage();
  await logIn(page);
  await page.getByRole("link", { name: "Create user" }).click();
  await page.getByLabel("User name", { exact: true }).fill("carol");
  await page.getByLabel("Password", { exact: true }).fill("carols password");
  await page.getByRole("checkbox", { name: "The user must choose" }).uncheck();
  await page.getByRole("button", { name: "Create user" }).click();
  await waitForStatus(page, /created/);
  assert.equal(typeof (await identity.logIn("carol", "carols password")).access_token, "string");

  await page.getByRole("button", { name: "Disable" }).click();
  await waitForStatus(page, /disabled/);
  assert.equal((await identity.logIn("carol", "carols password")).error, "invalid_grant");
  await page.getByRole("button", { name: "Enable" }).click();
  await waitForStatus(page, /enabled/);
  await page.getByLabel("New password", { exact: true }).fill("another password");
  await page.getByLabel("New password again").fill("another password");
  await page.getByRole("checkbox", { name: "must choose another" }).uncheck();
  await page.getByRole("button", { name: "Set password" }).click();
  await waitForStatus(page, /password is set/);
  assert.equal(typeof (await identity.logIn("carol", "another password")).access_token, "string");
  await page.getByLabel("Another role").selectOption({ label: "offline_access" });
  await page.getByRole("button", { name: "Give role" }).click();
  await waitForStatus(page, /given/);

  await page.getByRole("link", { name: "Clients" }).click();
  await page.getByRole("link", { name: "Create client" }).click();
  await page.getByLabel("Client id").fill("maps");
  await page.getByLabel("Redirect URIs").fill("https://maps.platform.test/*");
  await page.getByRole("checkbox", { name: "Protects resources" }).check();
  await page.getByRole("button", { name: "Create client" }).click();
  await waitForStatus(page, /created/);
  assert.equal(await page.getByLabel("Redirect URIs").inputValue(), "https://maps.platform.test/*");
  await page.getByRole("link", { name: "Protected resources" }).click();
  await page.getByRole("link", { name: "Create resource" }).click();
  await page.getByLabel("Name", { exact: true }).fill("carol");
  await page.getByRole("textbox", { name: "Paths" }).fill("/carol/*");
  await page.getByRole("button", { name: "Create resource" }).click();
  await page.getByRole("link", { name: "users", exact: true }).click();
  await page.getByLabel("Name", { exact: true }).fill("carol only");
  await page.getByRole("textbox", { name: "Users" }).fill("carol");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("link", { name: "Create permission" }).click();
  await page.getByLabel("Name", { exact: true }).fill("carol permission");
  await page.getByLabel("carol", { exact: true }).check();
  await page.getByLabel("carol only").check();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await waitForStatus(page, /created/);
  for (const [user, answer] of [
    ["carol", /granted\s+carol\s+may\s+use/],
    ["eric", /refused\s+eric\s+may not\s+use/],
  ] as const) {
    await page.getByRole("textbox", { name: "User" }).fill(user);
    await page.getByRole("textbox", { name: "Path" }).fill("/carol/x");
    await page.getByRole("button", { name: "Ask" }).click();
    await waitForStatus(page, answer);
  }

  await page.getByRole("link", { name: "Events" }).click();
  const main = page.getByRole("main");
  await main.filter({ hasText: /LOGIN_ERROR/ }).waitFor();
  await page.getByRole("link", { name: "Changes by administrators" }).click();
  for (const what of [/users\/carol/, /clients\/maps/, /reset-password/, /AUTHORIZATION_RULES/]) {
    await main.filter({ hasText: what }).waitFor();
  }
  await page.close();
});

test("in Chromium: by keyboard alone", { skip }, async () => {
  const page = await context!.newPage();
  await page.goto(at("/users"));
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
  await page.keyboard.press("Enter");
  const tabTo = async (name: string) => {
    for (let presses = 0; presses < 40; presses += 1) {
      await page.keyboard.press("Tab");
      const label = await page.evaluate(
        "document.activeElement.labels?.[0]?.textContent ?? document.activeElement.textContent",
      );
      if (String(label).trim() === name) {
        return;
      }
    }
    assert.fail(`${name} is not reached by the Tab key`);
  };
  await tabTo("Create user");
  await page.keyboard.press("Enter");
  await page.waitForURL(at("/users/new"));
  await tabTo("User name");
  await page.keyboard.type("keys");
  await page.keyboard.press("Enter");
  await page.waitForURL(/done=created/);
  assert.equal(await page.textContent("h1"), "keys");
  await page.close();
});

test("in Chromium: no serious accessibility fault, and nothing wider than a phone", { skip }, async () => {
  const ids = async (path: string) =>
    (await identity.ask(`/admin/realms/master${path}`, { bearer: (await identity.logIn("admin")).access_token })).body;
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
    await checkForms(page, path);
  }
  await page.close();
});
