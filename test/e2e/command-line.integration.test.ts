import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, runCommand, waitUntil } from "@swath/testing";
import { skipWithoutChromium } from "@swath/testing/chromium";

import { type PortalFixture, deployPortal, fillInLogin } from "./portal/portal-browser.ts";

// A scientist's day at a terminal: log in by a browser, put a scene into the workspace, run a package, get the result.
const skip = skipWithoutChromium;
const root = join(import.meta.dirname, "../..");
const LOMMEL = join(root, "examples/scenes/lommel");

let cluster: TestCluster;
let fixture: PortalFixture;
let close: (() => Promise<void>) | undefined;
let folder: string;
before(async () => {
  if (skip === false) {
    ({ cluster, fixture, close } = await deployPortal({ REQUIRE_RESOURCE_CATALOGUE: "true" }));
    folder = mkdtempSync(join(tmpdir(), "swath-command-line-"));
  }
});
after(async () => {
  await close?.();
  if (folder !== undefined) {
    rmSync(folder, { recursive: true, force: true });
  }
});

const environment = () => ({ ...cluster.env, XDG_CONFIG_HOME: folder });
const swath = (...args: readonly string[]) => runCommand(join(root, "bin/swath"), args, { env: environment() });
async function succeed(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await swath(...args);
  assert.equal(status, 0, `swath ${args.join(" ")}: ${stdout}${stderr}`);
  return stdout;
}

/** Starts `swath login` and gives the address that it prints. */
async function beginLogin(): Promise<{
  readonly login: ChildProcess;
  readonly address: string;
  readonly said: () => string;
}> {
  const login = spawn(join(root, "bin/swath"), ["login", cluster.name], {
    env: environment(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  login.stdout.on("data", (chunk: Buffer) => (text += chunk.toString()));
  login.stderr.on("data", (chunk: Buffer) => (text += chunk.toString()));
  await waitUntil("it prints where to log in", () => Promise.resolve(/check that the page shows the code/.test(text)));
  return { login, address: /^Open (\S+)$/m.exec(text)?.[1] ?? "", said: () => text };
}

const ended = (child: ChildProcess): Promise<number | null> =>
  child.exitCode === null ? new Promise((resolve) => child.once("exit", resolve)) : Promise.resolve(child.exitCode);

test("without a login each command says how to get one", { skip }, async () => {
  for (const args of [["search"], ["jobs"], ["run", "echo"], ["cp", "a", "s3://b/c"]]) {
    const { status, stderr } = await swath(...args);
    assert.equal(status, 1);
    assert.equal(stderr, "swath: you are not logged in: swath login\n");
  }
});

test("a login that is refused in the browser ends the command", { skip }, async () => {
  const { login, address, said } = await beginLogin();
  const { page, context } = await fixture.open();
  await page.goto(address);
  await fillInLogin(page, "bob");
  await page.getByRole("button", { name: "Refuse" }).click();
  assert.equal(await ended(login), 1, said());
  assert.match(said(), /the login was not completed: The person refused the login/);
  await context.close();
});

test("from the login to the result", { skip }, async () => {
  const { login, address, said } = await beginLogin();
  const { page } = await fixture.open();
  await page.goto(address);
  await fillInLogin(page, "eric");
  await page.getByRole("button", { name: "Allow" }).click();
  assert.equal(await ended(login), 0, said());
  assert.match(said(), / as eric$/m);
  const file = join(folder, "swath/logins.json");
  assert.equal(statSync(file).mode & 0o777, 0o600);

  // A workspace of eric's own, made in the portal where that is allowed.
  const portal = await fixture.open();
  await portal.logIn("eric", "/workspaces/new");
  await portal.page.getByRole("button", { name: "Create", exact: true }).click();
  await portal.page.getByRole("heading", { name: "No files here yet" }).waitFor();

  assert.equal((await succeed("cp", "-r", LOMMEL, "s3://ws-eric/scenes/lommel")).trim().split("\n").length > 2, true);
  await succeed("cp", "-r", "s3://ws-eric/scenes/", join(folder, "copy"));
  assert.deepEqual(readFileSync(join(folder, "copy/lommel/item.json")), readFileSync(join(LOMMEL, "item.json")));

  const run = await swath(
    "run",
    join(root, "examples/packages/ndvi.cwl"),
    "scenes=s3://ws-eric/scenes/lommel/item.json",
  );
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /^deployed ndvi$/m);
  const job = run.stdout.trim();
  const again = await swath(
    "run",
    join(root, "examples/packages/ndvi.cwl"),
    "--no-wait",
    "scenes=s3://ws-eric/none.json",
  );
  assert.match(again.stderr, /^replaced ndvi$/m);
  assert.equal(again.status, 0);
  assert.match(await succeed("jobs"), new RegExp(`^${job}  ndvi +successful`, "m"));
  assert.match(await succeed("jobs", job, "--log"), /mean vegetation index/);
  await succeed("results", job, "--download", join(folder, "results"));
  const files = JSON.parse(await succeed("results", job, "-o", "json")) as { path: string; size: number }[];
  // STAC documents are served with links that can be followed, so their size differs from what is stored.
  for (const { path, size } of files.filter(({ path }) => !path.endsWith(".json"))) {
    assert.equal(statSync(join(folder, "results", path)).size, size, path);
  }
  assert.deepEqual(JSON.parse(await succeed("search", "-o", "json")).type, "FeatureCollection");
});

test("mistakes are told in words that help", { skip }, async () => {
  const refusals: readonly (readonly [args: readonly string[], status: number, said: RegExp])[] = [
    [["run", "nothing"], 1, /There is no process nothing/],
    [["run", "ndvi", "scene=a"], 2, /the process has no input "scene"; it has: scenes, red, nir/],
    [["run", "ndvi", "a"], 2, /"a" is not an input; write name=value/],
    [["jobs", "nothing"], 1, /There is no job nothing/],
    [["search", "--bbox", "1,2"], 2, /west,south,east,north/],
    [["search", "--filter", "a <"], 1, /answered 400: The filter ends/],
    [["cp", "s3://ws-eric/nothing", join(folder, "x")], 1, /there is no s3:\/\/ws-eric\/nothing/],
    [
      ["cp", "s3://ws-bob/a", join(folder, "x")],
      1,
      /none of your workspaces has the bucket "ws-bob"; your workspaces: ws-eric/,
    ],
    [["cp", "a", "b"], 2, /one of the two is to be an address in the store/],
    [["login", "no/platform"], 2, /neither a cluster of this machine nor a platform's domain/],
  ];
  for (const [args, status, said] of refusals) {
    const response = await swath(...args);
    assert.equal(response.status, status, `${args.join(" ")}: ${response.stderr}`);
    assert.match(response.stderr, said);
    assert.doesNotMatch(response.stderr, /^ {4}at /m, "no stack");
  }
});

test("an access token that has ended is renewed; a logout ends the login at the platform, too", { skip }, async () => {
  const file = join(folder, "swath/logins.json");
  const saved = JSON.parse(readFileSync(file, "utf8")) as {
    logins: { accessTokenEnds: number; accessToken: string }[];
  };
  const [first] = saved.logins;
  assert.ok(first !== undefined);
  writeFileSync(file, JSON.stringify({ ...saved, logins: [{ ...first, accessTokenEnds: 0 }] }));
  await succeed("jobs");
  const renewed = readFileSync(file, "utf8");
  assert.ok(!renewed.includes(first.accessToken));
  await succeed("logout");
  assert.match((await swath("jobs")).stderr, /you are not logged in/);
  // A copy of the file is of no use any more.
  const copy = JSON.parse(renewed) as typeof saved;
  writeFileSync(
    file,
    JSON.stringify({ ...copy, logins: copy.logins.map((login) => ({ ...login, accessTokenEnds: 0 })) }),
  );
  const { status, stderr } = await swath("jobs");
  assert.equal(status, 1);
  assert.match(stderr, /your login at \S+ has ended .*: swath login/);
});
