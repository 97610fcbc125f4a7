import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { openDatabase } from "@swath/postgres";
import { type TestCluster, waitUntil } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { presign } from "../../../components/objstore/admin/presign.ts";
import { tabTo } from "../browser-assertions.ts";
import { type PortalFixture, type BrowserUser, administratorToken, deployPortal } from "./portal-browser.ts";

// The ways in which packages come to the platform and jobs end, a login that is renewed meanwhile, and very many jobs.
const skip = skipWithoutChromium;
const EXAMPLES = join(import.meta.dirname, "../../../examples");
const PACKAGE = `cwlVersion: v1.2
$namespaces: { s: "https://schema.org/" }
s:softwareVersion: 1.0.0
$graph:
  - class: Workflow
    id: patience
    label: Patience
    doc: Waits as long as it is told
    inputs:
      seconds: { type: int, label: Seconds }
      bbox: { type: string?, label: Area, doc: "west,south,east,north" }
    steps:
      wait: { run: "#waiter", in: { seconds: seconds }, out: [said] }
    outputs: { said: { type: string, outputSource: wait/said } }
  - class: CommandLineTool
    id: waiter
    baseCommand: [sh, -c, 'sleep "$1"; echo waited "$1"', sh]
    inputs: { seconds: { type: int, inputBinding: { position: 1 } } }
    stdout: said.txt
    outputs: { said: { type: string, outputBinding: { glob: said.txt, loadContents: true, outputEval: "$(self[0].contents)" } } }
`;

let cluster: TestCluster;
let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let eric: BrowserUser;
let server: Server | undefined;
before(async () => {
  if (skip === false) {
    ({ cluster, fixture, close } = await deployPortal());
    eric = await fixture.open();
    await eric.logIn("eric", "/processing/deploy");
  }
});
after(async () => {
  server?.close();
  await close?.();
});

const portal = (path: string) => fixture.url("portal", path);

test("a package is pasted, its mistake shown at its line, repaired there, and deployed", { skip }, async () => {
  const { page } = eric;
  const editor = page.getByLabel("Package in CWL");
  await editor.click();
  const wrong = PACKAGE.replace("outputSource: wait/said", "outputSource: wait/sad");
  const line = wrong.split("\n").findIndex((text) => text.includes("wait/sad")) + 1;
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(wrong)})`);
  await page.keyboard.press("Control+V");
  await page.getByText("Not valid: one mistake").waitFor();
  await page.getByRole("button", { name: `Line ${line}` }).click();
  await page.locator(".cm-activeLine", { hasText: "wait/sad" }).waitFor();
  await editor.press("Control+A");
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(PACKAGE)})`);
  await page.keyboard.press("Control+V");
  await page.getByText("Valid: Patience, version 1.0.0").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/processing\/processes\/patience$/);
});

test("a package is deployed by its address; why an address is refused is said", { skip }, async () => {
  const { page } = eric;
  const made = await page.evaluate(
    async (text) => {
      const json = { "content-type": "application/json" };
      const workspaces = "/api/services/workspace-api/workspaces";
      const body = JSON.stringify({ preferred_name: "eric", default_owner: "eric" });
      await fetch(workspaces, { method: "POST", body, headers: json });
      for (let attempt = 0; attempt < 600; attempt += 1) {
        const response = await fetch("/api/workspaces/ws-eric/files/packages/index.cwl", { method: "PUT", body: text });
        if (response.ok) {
          return true;
        }
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      return false;
    },
    readFileSync(join(EXAMPLES, "packages/ndvi.cwl"), "utf8"),
  );
  assert.ok(made, "the workspace takes the package");

  let asked = 0;
  const listening = createServer((_request, response) => {
    asked += 1;
    response.end(PACKAGE);
  }).listen(0, "127.0.0.1");
  server = listening;
  await new Promise((resolve) => listening.once("listening", resolve));
  await page.goto(portal("/processing/deploy"));
  const address = page.getByLabel("Address of a package");
  await address.fill(`http://127.0.0.1:${(listening.address() as AddressInfo).port}/app.cwl`);
  await page.getByRole("button", { name: "Fetch" }).click();
  const note = page.getByRole("alert").filter({ hasText: "The package was not fetched" });
  await note.waitFor();
  assert.match(await note.innerText(), /127\.0\.0\.1.*private/s);
  assert.equal(asked, 0, "nobody was asked");
  await address.fill("s3://ws-eric/packages/missing.cwl");
  await address.press("Enter");
  await note.filter({ hasText: "missing.cwl" }).waitFor();

  await address.fill("s3://ws-eric/packages/index.cwl");
  await address.press("Enter");
  await page.getByText("Valid: Vegetation index").waitFor();

  // By http as well: a link that is good for a while to a file of the object storage.
  await page.getByRole("button", { name: "Open a file" }).waitFor();
  await page.goto(portal("/processing/deploy"));
  await address.fill(await linkTo("packages/index.cwl"));
  await address.press("Enter");
  await page.getByText("Valid: Vegetation index").waitFor();
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.waitForURL(/\/processing\/processes\/ndvi$/);
});

/** An address of a file of eric's workspace that whoever has it may read. */
async function linkTo(key: string): Promise<string> {
  const { storage } = await eric.page.evaluate(
    async () =>
      (await (await fetch("/api/services/workspace-api/workspaces/ws-eric")).json()) as {
        storage: { credentials: { access: string; secret: string; region: string } };
      },
  );
  const { access: id, secret, region } = storage.credentials;
  return presign({
    publicUrl: fixture.url("objstore", ""),
    region,
    credential: { id, secret, token: null },
    method: "GET",
    bucket: "ws-eric",
    key,
    seconds: 600,
    now: Date.now(),
  });
}

test(
  "by keyboard alone a form is filled in, with a box for its area, and run; the job is cancelled",
  { skip },
  async () => {
    const { page } = eric;
    await page.goto(portal("/processing/processes/patience/run"));
    await page.getByRole("application", { name: "Map for Area" }).waitFor();
    await tabTo(page, "Skip to content");
    await page.keyboard.press("Enter");
    await tabTo(page, "Seconds");
    await page.keyboard.type("4711");
    await tabTo(page, "Draw a box");
    await page.keyboard.press("Enter");
    const side = (name: string) => page.getByLabel(name, { exact: true }).inputValue();
    // The map has the keys now: a corner in its middle, and one to the right of it and above.
    for (const key of ["Shift+ArrowRight", "Enter", "ArrowRight", "ArrowRight", "ArrowUp"]) {
      await page.keyboard.press(key);
    }
    await page
      .getByRole("status")
      .filter({ hasText: /Corner 1 at .* Move to the opposite corner/ })
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Draw anew" }).waitFor();
    const [west, south, east, north] = [
      Number(await side("West")),
      Number(await side("South")),
      Number(await side("East")),
      Number(await side("North")),
    ];
    assert.ok(west < east && south < north && east - west > north - south, [west, south, east, north].join(" "));
    // Typed, the same box is on the map at once.
    for (const [name, degrees] of [
      ["West", "5.1"],
      ["South", "51.2"],
      ["East", "5.3"],
      ["North", "51.4"],
    ] as const) {
      await tabTo(page, name);
      await page.keyboard.type(degrees);
    }
    await tabTo(page, "Run");
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/processing\/jobs\/[0-9a-f-]{36}$/);
    await page.locator('.swath-step[data-status="running"]', { hasText: "wait" }).waitFor();
    await page.getByRole("tab", { name: "Inputs" }).click();
    await page.getByText("5.1,51.2,5.3,51.4").first().waitFor();

    await page.getByRole("button", { name: "Cancel", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the job" }).click();
    await page.getByText("The job is cancelled.").waitFor();
    await page.getByText("Cancelled", { exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Cancel", exact: true }).waitFor({ state: "detached" });
  },
);

test("a job is run again with other inputs, and what came of it is shown", { skip }, async () => {
  const { page } = eric;
  await page.getByRole("link", { name: "Run again", exact: true }).click();
  const seconds = page.getByLabel("Seconds");
  assert.equal(await seconds.inputValue(), "4711");
  await seconds.fill("1");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/processing\/jobs\/[0-9a-f-]{36}$/);
  await page.getByText("waited 1").first().waitFor({ timeout: 120_000 });
});

test("while the processing service is gone a job's page says so, and goes on when it is back", { skip }, async () => {
  const { page } = eric;
  await page.goto(portal("/processing/processes/patience/run"));
  // Longer than the service takes to come back, on slow machines too.
  await page.getByLabel("Seconds").fill("60");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/processing\/jobs\/[0-9a-f-]{36}$/);
  await page.locator('.swath-step[data-status="running"]', { hasText: "wait" }).waitFor();
  await page.getByRole("tab", { name: "Log" }).click();
  const state = page.getByRole("status");
  await state.getByText("live", { exact: true }).waitFor();
  const { pid = 0 } = await cluster.pod("ades");
  process.kill(pid, "SIGKILL");
  await state.getByText("connecting again").waitFor();
  await state.getByText("live", { exact: true }).waitFor();
  await page.getByText("Successful", { exact: true }).first().waitFor({ timeout: 300_000 });
  await state.getByText("complete", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Results" }).click();
  await page.getByText("waited 60").first().waitFor();
});

test("a login is renewed before it ends, while a page is open", { skip }, async () => {
  const { page, context } = eric;
  const token = async () =>
    (await context.cookies(portal("/"))).find(({ name }) => name === "auth_user_id")?.value ?? "";
  const claims = async () =>
    JSON.parse(Buffer.from((await token()).split(".")[1] ?? "", "base64url").toString()) as {
      exp: number;
      iat: number;
    };
  await shortenTokens(12);
  // The next renewal gives the first short one.
  await page.goto(portal("/processing/jobs"));
  const signedIn = page.getByRole("button", { name: /^Logged in as/ });
  await signedIn.waitFor();
  const before = await claims();
  await expireNow();
  await page.reload();
  await signedIn.waitFor();
  await waitUntil("a short login", async () => (await claims()).exp - (await claims()).iat === 12, 60);
  const short = await claims();
  assert.notEqual(short.iat, before.iat);
  await waitUntil("two renewals later", async () => (await claims()).iat >= short.exp, 90);
  await page.getByRole("link", { name: "patience" }).first().click();
  await page.getByRole("heading", { name: /^patience/ }).waitFor();
  await page.getByRole("tab", { name: "Inputs" }).click();
  await page.getByText("Seconds").first().waitFor();
  assert.equal(await page.getByRole("link", { name: "Log in" }).count(), 0);

  async function expireNow(): Promise<void> {
    await context.clearCookies({ name: "auth_user_id" });
  }
});

/** Seconds that access tokens last from now on. */
async function shortenTokens(accessTokenLifespan: number): Promise<void> {
  const token = await administratorToken(fixture);
  const { status } = await fixture.send("identity", "/admin/realms/master", {
    method: "PUT",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ accessTokenLifespan }),
  });
  assert.equal(status, 204);
}

test(
  "five thousand jobs are counted, more are read on as they are scrolled, and only those in sight are in the page",
  { skip },
  async () => {
    await addJobs(5000);
    const { page } = eric;
    await page.goto(portal("/processing/jobs"));
    await page
      .getByRole("status")
      .filter({ hasText: /^5,00\d jobs/ })
      .waitFor();
    // More than the service counts: the list grows as it is read.
    await addJobs(10_000);
    await page.reload();
    await page.getByRole("status").filter({ hasText: "Very many jobs" }).waitFor();
    const table = page.getByRole("table", { name: "Jobs" });
    assert.equal(await table.getAttribute("aria-rowcount"), "-1");
    const rowCount = () => table.getByRole("row").count();
    assert.ok((await rowCount()) < 60, `${await rowCount()} rows are in the page`);
    await waitUntil("the end of the list has moved on", async () => {
      await page.keyboard.press("End");
      const rows = table.locator("[aria-rowindex]").filter({ has: page.getByRole("link", { name: "bulk" }) });
      return Number(await rows.last().getAttribute("aria-rowindex")) > 700;
    });
    assert.ok((await rowCount()) < 60, `${await rowCount()} rows are in the page`);
    await page.keyboard.press("Home");
    await page.getByRole("button", { name: "Filter" }).click();
    await page.getByLabel("Status", { exact: true }).first().click();
    await page.getByRole("option", { name: "Failed" }).click();
    await page.getByRole("status").filter({ hasText: "3,000 jobs" }).waitFor();
    await page.waitForURL(/status=failed/);
    await page.getByRole("link", { name: "bulk" }).first().click();
    await page.getByText("Job number").first().waitFor();
    await page.getByText("The process bulk is no longer deployed").waitFor();
  },
);

/** Jobs of the past, put where the service keeps them. */
async function addJobs(count: number): Promise<void> {
  const { pid = 0 } = await cluster.pod("ades");
  const url = /(?:^|\0)DATABASE_URL=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, "utf8"))?.[1] ?? "";
  const { pool, close: end } = await openDatabase({ url, schema: "ades", onError: () => {} });
  try {
    await pool.query(
      `insert into job (owner, process_id, process_version, status, message, progress, request, created_at, started_at, finished_at)
       select owner, 'bulk', 1, case n % 5 when 0 then 'failed' else 'successful' end, 'Job number ' || n, 100,
              '{"inputs":{}}', now() - n * interval '1 minute' - interval '1 day', now() - n * interval '1 minute' - interval '1 day',
              now() - n * interval '1 minute' - interval '1 day' + interval '5 seconds'
       from generate_series(1, $1::int) n, (select owner from process where id = 'patience' limit 1) p`,
      [count],
    );
  } finally {
    await end();
  }
}

test("no page had a fault in the console of the browser", { skip }, () => {
  const expected = [
    /status of 422 .*\/packages\/check/,
    /status of 4\d\d .*\/packages\/check/,
    // The workspace's members and storage are there a moment after it was made; while the service restarts it does not answer.
    /status of 40[349] .*\/api\/workspaces\/ws-eric\/files\//,
    /status of 50[234] .*\/api\/services\/ades\//,
    /net::ERR_.*\/api\/services\/ades\//,
    // The very many jobs are of a process that is not deployed.
    /status of 404 .*\/processes\/bulk\/graph/,
  ];
  assert.deepEqual(fixture.findFaults(expected), []);
});
