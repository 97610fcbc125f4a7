import assert from "node:assert/strict";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { type ConsoleFixture, logIn, signIn, skip, startConsoleFixture } from "./console-fixture.ts";
import { checkForms, tabTo } from "./browser-assertions.ts";

const SCENE = join(import.meta.dirname, "../../examples/scenes/lommel");
const MIB = 2 ** 20;

let fixture: ConsoleFixture;
let folder: string;

before(async () => {
  if (skip === false) {
    fixture = await startConsoleFixture();
    folder = await mkdtemp(join(tmpdir(), "console-"));
  }
});
after(async () => {
  await fixture?.close();
  if (folder !== undefined) {
    await rm(folder, { recursive: true, force: true });
  }
});
const openPage: ConsoleFixture["openPage"] = (from) => fixture.openPage(from);
const visit: ConsoleFixture["visit"] = (page, path) => fixture.visit(page, path);
const administer: ConsoleFixture["administer"] = (path, method, body) => fixture.administer(path, method, body);

test("in Chromium: log in, make a bucket, upload files, look at them, share one, delete one", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/");
  await signIn(page, "wrong");
  await page.getByRole("alert").getByText("The access key or its secret is wrong.").waitFor();
  await signIn(page);
  await page.getByRole("heading", { name: "No buckets" }).waitFor();
  await page.getByRole("button", { name: "Create bucket" }).first().click();
  await page.getByLabel("Name").fill("Maps");
  await page.getByText("Only lower-case letters").waitFor();
  await page.getByLabel("Name").fill("maps");
  await page.getByLabel("Quota").fill("200 MiB");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.getByRole("heading", { name: "Nothing here" }).waitFor();

  await writeFile(join(folder, "notes.txt"), "first\n");
  await page
    .getByLabel("Files to upload")
    .setInputFiles([join(SCENE, "B04.tif"), join(SCENE, "item.json"), join(folder, "notes.txt")]);
  await page.getByRole("status").getByText("3 files uploaded").waitFor();
  await page.getByLabel("Folder to upload").setInputFiles(SCENE);
  await page.getByRole("link", { name: "lommel/" }).waitFor();
  await page.getByRole("link", { name: "lommel/" }).click();
  await page.getByRole("link", { name: "B08.tif" }).waitFor();

  await page.getByRole("link", { name: "B04.tif" }).click();
  await page.getByRole("img", { name: "Preview of B04.tif" }).waitFor();
  await page.getByText("EPSG:32631").waitFor();
  await page.getByRole("application", { name: "Location" }).waitFor();
  const colours = await page.evaluate(
    "new Set(document.querySelector('canvas[role=img]').getContext('2d').getImageData(0, 0, 200, 200).data).size",
  );
  assert.ok(Number(colours) > 20, "the raster is drawn");

  await visit(page, "/buckets/maps/object?key=item.json");
  await page.getByRole("region", { name: "Text of the object" }).getByText('"stac_version": "1.0.0"').waitFor();
  await page.getByRole("application", { name: "Location" }).waitFor();

  await visit(page, "/buckets/maps/object?key=notes.txt");
  await page.getByRole("region", { name: "Text of the object" }).getByText("first").waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "Download" }).click();
  const download = await saved;
  assert.equal(download.suggestedFilename(), "notes.txt");
  assert.equal(await readFile(await download.path(), "utf8"), "first\n");
  await page.getByRole("button", { name: "Share" }).click();
  await page.getByRole("button", { name: "Make the link" }).click();
  const link = await page.getByLabel("Link", { exact: true }).inputValue();
  assert.equal(await (await fetch(link)).text(), "first\n");
  await page.getByRole("button", { name: "Done" }).click();

  await visit(page, "/buckets/maps");
  await page.getByLabel("Choose notes.txt").check();
  await page.getByLabel("Choose lommel/").check();
  await page.getByRole("region", { name: "Chosen entries" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 2 entries" }).click();
  await page.getByText("2 entries", { exact: true }).waitFor();
  assert.equal(await page.getByRole("link", { name: "lommel/" }).count(), 0);
  assert.equal((await fetch(link)).status, 404);
  await page.close();
});

test("in Chromium: old versions are kept, looked at and brought back", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/buckets/maps/settings");
  await page.getByLabel("Versioning").click();
  await page.getByText("Old versions are kept from now on.").waitFor();
  await page.getByRole("tab", { name: "Objects" }).click();
  const upload = async (text: string) => {
    await writeFile(join(folder, "report.txt"), text);
    await page.getByLabel("Files to upload").setInputFiles(join(folder, "report.txt"));
  };
  await upload("one");
  await page.getByRole("link", { name: "report.txt" }).waitFor();
  await upload("two");
  await page.getByRole("dialog").getByRole("button", { name: "Replace" }).click();
  await page.getByRole("status").getByText("2 files uploaded").waitFor();
  await page.getByRole("link", { name: "report.txt" }).click();
  const text = page.getByRole("region", { name: "Text of the object" });
  await text.getByText("two").waitFor();
  await page.getByRole("button", { name: /^Bring back the version/ }).click();
  await text.getByText("one").waitFor();
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByText("they can be brought back").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 1 object" }).click();
  await page.getByText("2 entries", { exact: true }).waitFor();
  await visit(page, "/buckets/maps/object?key=report.txt");
  await page.getByRole("region", { name: "Versions" }).getByText("Deleted", { exact: true }).waitFor();
  await page.getByRole("button", { name: /^Delete the mark/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete for good" }).click();
  await text.getByText("one").waitFor();
  await page.close();
});

test("in Chromium: a large file goes up in parts, and a full bucket says so", { skip }, async () => {
  const page = await openPage();
  const large = join(folder, "large.bin");
  const file = await open(large, "w");
  await file.truncate(70 * MIB);
  await file.close();
  await visit(page, "/buckets/maps");
  await page.getByLabel("Files to upload").setInputFiles(large);
  await page.getByRole("status").getByText("1 file uploaded").waitFor({ timeout: 120_000 });
  await page.getByRole("link", { name: "large.bin" }).click();
  await page.getByText(/^[0-9a-f]{32}-5$/).waitFor();
  await administer("/api/buckets/maps/quota", "PUT", { bytes: 71 * MIB });
  await visit(page, "/buckets/maps");
  await page.getByLabel("Files to upload").setInputFiles(join(SCENE, "B08.tif"));
  await page.getByText(/The quota of this bucket is/).waitFor();
  await page.close();
});

test("in Chromium: a policy is checked while it is written, and lets in whom it says", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/buckets/maps/policy");
  const editor = page.getByLabel("Policy of maps");
  await editor.fill('{\n  "Version": oops\n}');
  await page.getByText("Line 2").waitFor();
  await editor.fill(
    '{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::other/*"}}',
  );
  await page.getByText("Policy has invalid resource arn:aws:s3:::other/*").waitFor();
  assert.ok(await page.getByRole("button", { name: "Save" }).isDisabled());
  await page.getByRole("button", { name: "Begin with" }).click();
  await page.getByRole("menuitem", { name: "Everybody may read objects" }).click();
  await page.getByText("This policy is valid.").waitFor();
  assert.equal((await fetch(`${fixture.s3Url}/maps/item.json`)).status, 403);
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Allow public access" }).click();
  await page.getByText("logged in or not").waitFor();
  assert.equal((await fetch(`${fixture.s3Url}/maps/item.json`)).status, 200);
  await page.getByRole("button", { name: "Remove policy" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove policy" }).click();
  await page.getByText("No policy.").waitFor();
  assert.equal((await fetch(`${fixture.s3Url}/maps/item.json`)).status, 403);
  await page.close();
});

test("in Chromium: users and access keys", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/users");
  await page.getByRole("button", { name: "Create user" }).first().click();
  await page.getByLabel("Name").fill("robot");
  await page
    .getByLabel("Policy of the user")
    .fill('{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"s3:*","Resource":"*"}]}');
  await page.getByText("This policy is valid.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "robot", exact: true }).waitFor();
  await page.getByRole("link", { name: "Access keys" }).click();
  await page.getByRole("button", { name: "Create access key" }).first().click();
  await page.getByLabel("Title").fill("nightly job");
  await page.getByRole("combobox", { name: "User" }).click();
  await page.getByRole("option", { name: "robot" }).click();
  await page.getByRole("button", { name: "Create", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const accessKey = await dialog.getByRole("textbox", { name: "Access key" }).inputValue();
  const secretKey = await dialog.getByRole("textbox", { name: "Secret key" }).inputValue();
  const tryKey = async () => {
    const response = await fetch(`${fixture.store.consoleUrl}/api/session`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ accessKey, secretKey }),
    });
    return response.status;
  };
  assert.equal(await tryKey(), 200);
  await dialog.getByRole("button", { name: "Done" }).click();
  await page.getByLabel(`${accessKey} may be used`).press("Space");
  await page.locator(`[aria-label="${accessKey} may be used"]:not(:checked)`).waitFor({ state: "attached" });
  assert.notEqual(await tryKey(), 200);
  await page.getByRole("button", { name: `Delete ${accessKey}` }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete the key" }).click();
  await page.getByRole("heading", { name: "No access keys" }).waitFor();
  await page.close();
});

test("in Chromium: thousands of objects in a folder", { skip, timeout: 300_000 }, async () => {
  await administer("/api/buckets/many", "PUT");
  await administer("/api/buckets/many/policy", "PUT", {
    Statement: { Effect: "Allow", Principal: "*", Action: "s3:PutObject", Resource: "arn:aws:s3:::many/*" },
  });
  // More than two pages of a listing, and than two requests to delete: 1,000 each.
  const numbers = Array.from({ length: 2_500 }, (_, index) => index).values();
  const work = async () => {
    for (const number of numbers) {
      await (
        await fetch(`${fixture.s3Url}/many/scenes/${String(number).padStart(5, "0")}.json`, {
          method: "PUT",
          body: "{}",
        })
      ).text();
    }
  };
  await Promise.all(Array.from({ length: 32 }, work));
  const page = await openPage();
  await visit(page, "/buckets/many?prefix=scenes%2F");
  await page.getByText("2,500 entries", { exact: true }).waitFor();
  assert.ok((await page.locator("tbody tr").count()) < 100, "only rows in sight are in the page");
  await page.keyboard.press("End");
  await waitUntil("the last row", async () => {
    // The page grows while rows are measured.
    await page.evaluate("window.scrollTo(0, document.documentElement.scrollHeight)");
    return page.getByRole("link", { name: "02499.json" }).isVisible();
  });
  await page.evaluate("window.scrollTo(0, 0)");
  await page.getByLabel("Filter by name").fill("0177");
  await page.getByText("11 of 2,500 entries", { exact: true }).waitFor();
  await page.getByLabel("Filter by name").fill("");
  // "Select all" means the rows that are shown, and they follow the filter a moment later.
  await page.getByText("2,500 entries", { exact: true }).waitFor();
  await page.getByLabel("Select all").check();
  await page.getByText(/^2,500 entries chosen/).waitFor();
  await page.getByRole("region", { name: "Chosen entries" }).getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete 2,500 objects" }).click();
  await page.getByRole("heading", { name: "Nothing here" }).waitFor({ timeout: 120_000 });
  await page.close();
});

test("in Chromium: log in with the platform's login", { skip }, async () => {
  const other = await fixture.browser.newContext();
  other.setDefaultTimeout(120_000);
  const page = await openPage(other);
  await visit(page, "/buckets/maps");
  await logIn(page, "admin");
  await page.getByRole("heading", { name: "maps" }).waitFor();
  await page.getByRole("button", { name: "Logged in as admin" }).click();
  await page.getByRole("menuitem", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await other.clearCookies();
  await visit(page, "/");
  await logIn(page, "eric");
  await page
    .getByRole("alert")
    .getByText("you have no rights here", { exact: false })
    .or(page.getByText("have no rights here"))
    .first()
    .waitFor();
  await other.close();
});

const BUCKET_PAGES = ["", "/object?key=item.json", "/object?key=B04.tif", "/policy", "/lifecycle", "/settings"];
const PAGES = [
  "/sign-in",
  "/",
  ...BUCKET_PAGES.map((page) => `/buckets/maps${page}`),
  "/keys",
  "/users",
  "/roles",
  "/server",
];

test(
  "in Chromium: no serious accessibility fault, and nothing wider than a phone",
  { skip, timeout: 400_000 },
  async () => {
    // The checker is put into the page, which the pages' own policy forbids.
    const checked = await fixture.browser.newContext({ bypassCSP: true });
    const page = await openPage(checked);
    for (const path of PAGES) {
      await visit(page, path);
      if (path === "/sign-in") {
        await checkForms(page, path);
        await signIn(page);
        await page.getByRole("heading", { name: "Buckets" }).waitFor();
      }
      await page.waitForLoadState("networkidle");
      await checkForms(page, path);
    }
    await checked.close();
  },
);

test("in Chromium: by keyboard alone", { skip }, async () => {
  const page = await openPage();
  await visit(page, "/");
  await page.getByRole("link", { name: "maps" }).waitFor();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate("document.activeElement.textContent"), "Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(page, "maps");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "item.json" }).waitFor();
  await tabTo(page, "Choose item.json");
  await page.keyboard.press("Space");
  await page.getByText(/^1 entry chosen/).waitFor();
  await tabTo(page, "item.json");
  await page.keyboard.press("Enter");
  await page.getByRole("region", { name: "Text of the object" }).waitFor();
  await page.close();
});

test("in Chromium: nothing was asked of anybody else, and nothing broke", { skip }, () => {
  assert.deepEqual(
    [...fixture.response].toSorted(),
    [fixture.store.consoleUrl, fixture.s3Url, fixture.identity.url].toSorted(),
  );
  assert.deepEqual(fixture.faults, []);
});
