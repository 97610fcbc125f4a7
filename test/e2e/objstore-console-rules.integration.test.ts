import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { type ConsoleFixture, logIn, signIn, skip, startConsoleFixture } from "./console-fixture.ts";

let fixture: ConsoleFixture;

before(async () => {
  if (skip !== false) {
    return;
  }
  fixture = await startConsoleFixture();
  await fixture.administer("/api/buckets/maps", "PUT");
  const url = await presign({ bucket: "maps", key: "item.json", method: "PUT" });
  assert.equal((await fetch(url, { method: "PUT", body: "{}" })).status, 200);
  const page = await fixture.openPage();
  await fixture.visit(page, "/");
  await signIn(page);
  await page.getByRole("link", { name: "maps" }).waitFor();
  await page.close();
});
after(() => fixture?.close());

async function presign(expected: object): Promise<string> {
  const response = await fixture.administer("/api/presign", "POST", { seconds: 60, ...expected });
  return ((await response.json()) as { url: string }).url;
}

test("in Chromium: a lifecycle is written, refused with the reason, and in force", { skip }, async () => {
  const page = await fixture.openPage();
  const read = async () => {
    const url = await presign({ bucket: "maps", method: "GET", query: { lifecycle: "" } });
    return (await fetch(url)).text();
  };
  await fixture.visit(page, "/buckets/maps/lifecycle");
  await page.getByText("Nothing is deleted by itself.").waitFor();
  for (const rule of ["Delete objects of a folder after 30 days", "Keep old versions for 30 days"]) {
    await page.getByRole("button", { name: "Add a rule" }).click();
    await page.getByRole("menuitem", { name: rule }).click();
  }
  const editor = page.getByLabel("Lifecycle of maps");
  const written = await editor.inputValue();
  await editor.fill(written.replace('"Days": 30', '"Days": 0'));
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("'Days' must be a positive integer.").waitFor();
  assert.match(await read(), /NoSuchLifecycleConfiguration/);
  await editor.fill(written);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The rules are in force.").waitFor();
  assert.match(await read(), /<NoncurrentDays>30<\/NoncurrentDays>/);
  await fixture.visit(page, "/buckets/maps/lifecycle");
  assert.equal(await editor.inputValue(), written, "what S3 gives back is what was written");
  await editor.fill("");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Nothing is deleted by itself any more.").waitFor();
  assert.match(await read(), /NoSuchLifecycleConfiguration/);
  await page.close();
});

test("in Chromium: a role opens a bucket to people of the platform, and closes it again", { skip }, async () => {
  const page = await fixture.openPage();
  await fixture.visit(page, "/roles");
  await page.getByRole("button", { name: "administrator", exact: true }).waitFor();
  await page.getByText("realm_access.roles is admin").waitFor();
  await page.getByRole("button", { name: "Create role" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("readers of maps");
  await dialog.getByText("Letters, digits").waitFor();
  await dialog.getByLabel("Name").fill("map-readers");
  assert.ok(await dialog.getByRole("button", { name: "Save" }).isDisabled(), "it is for nobody yet");
  await dialog.getByLabel("Values").fill("eric\nbob\n");
  await dialog
    .getByLabel("Policy of the role")
    .fill('{"Statement":{"Effect":"Allow","Action":["s3:ListBucket","s3:GetObject"],"Resource":"arn:aws:s3:::maps*"}}');
  await dialog.getByText("This policy is valid.").waitFor();
  await dialog.getByRole("button", { name: "Save" }).click();
  await page.getByText("preferred_username is eric or bob").waitFor();
  const { roles } = (await (await fixture.administer("/api/roles", "GET")).json()) as { roles: { name: string }[] };
  assert.deepEqual(
    roles.map(({ name }) => name),
    ["administrator", "map-readers"],
  );

  const other = await fixture.browser.newContext();
  other.setDefaultTimeout(120_000);
  const theirs = await fixture.openPage(other);
  await fixture.visit(theirs, "/");
  await logIn(theirs, "eric");
  await theirs.getByRole("link", { name: "maps" }).click();
  await theirs.getByRole("link", { name: "item.json" }).waitFor();

  await page.getByRole("button", { name: "Delete map-readers" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the role" }).click();
  await page.getByText("preferred_username is eric or bob").waitFor({ state: "detached" });
  await theirs.reload();
  await theirs.getByRole("heading", { name: "Log in" }).waitFor();
  await other.close();
  await page.close();
});
