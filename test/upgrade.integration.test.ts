// A deployment with data is taken from an earlier version of this repository to the present one, onwards, and back where that is
// possible.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { type CommandResult, findFreePorts, runCommand } from "@swath/testing";

import { cloneVersion, commitMigration, extractVersion, git, findCommitSkipReason } from "./support/versions.ts";

/** The release point that upgrades are tried from. */
const EARLIER = "20d05a5";
const skip = findCommitSkipReason(EARLIER);

const OFF =
  "ADES APPLICATION_HUB RESOURCE_CATALOGUE DATA_ACCESS REGISTRATION_API WORKSPACE_API REGISTRY PORTAL OBJSTORE STORAGE";
const folder = mkdtempSync(join(tmpdir(), "swath-upgrade-"));
chmodSync(folder, 0o711);
const state = join(folder, "state");
const earlier = join(folder, "earlier");
const present = join(folder, "present");
const [http = 0, https = 0] = await findFreePorts(2);
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  SWATH_STATE_DIR: state,
  LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${http}:80,${https}:443`,
  USE_TLS: "false",
  REQUIRE_IDENTITY_SERVICE: "true",
  ...Object.fromEntries(OFF.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
};
const swath = (at: string, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(join(at, "bin/swath"), args, { env });
const apply = (at: string) => swath(at, "deploy", "apply", "up", "up.localhost", "127.0.0.1");

after(async () => {
  if (existsSync(state)) {
    await swath(existsSync(present) ? present : earlier, "cluster", "delete", "up", "--yes");
  }
  rmSync(folder, { recursive: true, force: true });
});

function send(path: string, body: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const host = { host: `identity.up.localhost:${http}` };
    const sent = request(
      { host: "127.0.0.1", port: http, path, method: "POST", headers: { ...host, ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

const logIn = (username: string, password: string) =>
  send(
    "/realms/master/protocol/openid-connect/token",
    new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username, password }).toString(),
    { "content-type": "application/x-www-form-urlencoded" },
  );

/** What was made with the earlier version. */
async function checkData(): Promise<void> {
  assert.equal((await logIn("ada", "a password of before")).status, 200);
}

function must(result: CommandResult): CommandResult {
  assert.equal(result.status, 0, result.stdout + result.stderr);
  return result;
}

test("data of an earlier version", { skip }, async () => {
  extractVersion(EARLIER, earlier);
  must(await apply(earlier));
  const { access_token: token } = JSON.parse((await logIn("admin", "changeme")).text) as { access_token: string };
  const credentials = [{ type: "password", value: "a password of before", temporary: false }];
  const made = await send(
    "/admin/realms/master/users",
    JSON.stringify({ username: "ada", enabled: true, credentials }),
    {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
    },
  );
  assert.equal(made.status, 201, made.text);
  await checkData();
});

test("the present version over it: a backup first, and the data are there", { skip }, async () => {
  cloneVersion(present);
  const { stdout } = must(await apply(present));
  const [, backup = ""] = /wrote (\S+)/.exec(stdout) ?? [];
  assert.ok(existsSync(backup), stdout);
  await checkData();
  const none = await swath(present, "rollback", "up");
  assert.equal(none.status, 1);
  assert.match(none.stderr, /one version only, or those before kept no record/);
});

test("a version without other migrations: no backup, and a way back", { skip }, async () => {
  const first = git(present, "rev-parse", "HEAD").stdout.trim();
  assert.equal(git(present, "commit", "--quiet", "--allow-empty", "-m", "next").status, 0);
  assert.doesNotMatch(must(await apply(present)).stdout, /wrote /);
  const { stdout } = must(await swath(present, "rollback", "up"));
  assert.match(stdout, new RegExp(`commit ${first.slice(0, 12)}`));
  assert.ok(existsSync(join(state, "releases", first, "bin/swath")));
  await checkData();
  must(await apply(present));
  await checkData();
});

test(
  "a version that changes the data: no way back but the backup, and no older version over it",
  { skip },
  async () => {
    const name = commitMigration(present, "identity");
    const { stdout } = must(await apply(present));
    assert.match(stdout, new RegExp(`changes the data: identity: ${name}[^]*wrote `));
    await checkData();
    const refused = await swath(present, "rollback", "up");
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, new RegExp(`nothing was changed[^]*${name}[^]*swath restore .*before-upgrade`));
    const pods = readFileSync(join(state, "clusters/up/pods.json"), "utf8");
    git(present, "checkout", "--quiet", "HEAD~1");
    const older = await apply(present);
    assert.equal(older.status, 1);
    assert.match(older.stderr, new RegExp(`nothing was changed[^]*newer version[^]*${name}`));
    assert.equal(readFileSync(join(state, "clusters/up/pods.json"), "utf8"), pods, "nothing was stopped");
    await checkData();
  },
);
