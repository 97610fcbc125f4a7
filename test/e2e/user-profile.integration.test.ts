import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser, type Page } from "playwright-core";

import { PASSWORD, type TestIdentity, startIdentity } from "../../components/identity/test/start-identity.ts";
import { checkAccessibility } from "./browser-assertions.ts";

const skip = skipWithoutChromium;

let identity: TestIdentity;
let browser: Browser;
before(async () => {
  if (skip === false) {
    identity = await startIdentity({ login: true });
    browser = await launchChromium();
  }
});
after(async () => {
  await browser?.close();
  await identity?.close();
});

async function openProfile(username: string): Promise<Page> {
  const context = await browser.newContext({ bypassCSP: true });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(`${identity.url}/web_ui`);
  await page.fill("[name=username]", username);
  await page.fill("[name=password]", PASSWORD);
  await page.press("[name=password]", "Enter");
  await page.waitForURL(`${identity.url}/web_ui/profile_management`);
  return page;
}

test("users keep their profile, accept terms, and think again about removing their account", { skip }, async () => {
  const { access_token: token } = (await identity.logIn("admin")) as { access_token: string };
  await identity.send("/pdp/terms/", { bearer: token, json: { term_id: "fair-use", name: "Fair use" } });

  const page = await openProfile("eric");
  await page.getByLabel("First name").fill("Eric");
  await page.getByLabel("E-mail").fill("eric@example.org");
  await page.getByRole("button", { name: "Save profile" }).click();
  await page.getByText("Your profile is saved.").waitFor();
  await checkAccessibility(page, "profile");
  await page.getByRole("button", { name: "Send a confirmation message" }).click();
  await page.getByText("This deployment has no mail server").waitFor();

  const operator = await openProfile("admin");
  await operator.goto(`${identity.url}/web_ui/outbox`);
  await checkAccessibility(operator, "outbox");
  const address = await operator.getByRole("link", { name: /\/web_ui\/confirmation\// }).getAttribute("href");
  await page.goto(address ?? "");
  await checkAccessibility(page, "confirmation");
  await page.getByRole("button", { name: "Confirm" }).click();
  await page.getByRole("heading", { name: "E-mail address confirmed" }).waitFor();
  await page.getByRole("link", { name: "Your profile" }).click();
  await page.getByText("is confirmed.").waitFor();

  for (const [section, fields] of [
    ["Licences", { Name: "CC BY 4.0" }],
    ["API keys", { Name: "Maps", Key: "a key of maps" }],
    [
      "Storage details",
      { Name: "Mine", "Address of the storage": "https://s3.example.org", "Bucket or container": "b" },
    ],
  ] as const) {
    await page.getByRole("link", { name: section, exact: true }).click();
    await page.getByRole("heading", { name: section, exact: true, level: 1 }).waitFor();
    for (const [label, value] of Object.entries(fields)) {
      await page.getByLabel(label, { exact: true }).fill(value);
    }
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("is saved.").waitFor();
    await checkAccessibility(page, section);
  }
  await page.getByRole("link", { name: "API keys", exact: true }).click();
  await page.getByRole("heading", { name: "API keys", exact: true, level: 1 }).waitFor();
  assert.equal(await page.getByText("a key of maps").count(), 0);
  await page.getByRole("button", { name: "Show Maps" }).click();
  await page.getByText("a key of maps").waitFor();

  await page.getByRole("link", { name: "Terms and conditions" }).click();
  await page.getByRole("button", { name: "Accept Fair use" }).click();
  await page.getByRole("button", { name: "Withdraw the acceptance of Fair use" }).waitFor();
  await checkAccessibility(page, "terms");

  await page.getByRole("link", { name: "Remove account" }).click();
  await page.getByLabel("Your user name").fill("eric");
  await page.getByLabel("Current password").fill(PASSWORD);
  await checkAccessibility(page, "removal");
  await page.getByRole("button", { name: "Remove my account" }).click();
  await page.getByRole("status").getByText("Your account will be removed after").waitFor();
  await page.getByRole("button", { name: "Keep my account" }).click();
  await page.getByText("Your account stays.").waitFor();
});
