// A deployment with data is taken from an earlier version to the present one, onwards, and back where that is possible.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type CommandResult, runCommand } from "@swath/testing";
import { loadArchive } from "@swath/testing/kubernetes-images";

import { cloneVersion, commitMigration, git, findCommitSkipReason } from "../support/versions.ts";
import {
  DOMAIN,
  type Deployment,
  NAME,
  openDeployment,
  readPodNames,
  root,
  findDeploymentSkipReason,
} from "./support/deployment.ts";
import { openAccess } from "./support/access.ts";
import { whyLeftOut } from "./support/on-demand.ts";

/** The release point that upgrades are tried from. */
const EARLIER = "27b5fe8c";
const missing = whyLeftOut() ?? (await findDeploymentSkipReason());
const skip = missing ?? findCommitSkipReason(EARLIER);
const OFF = ["ADES", "APPLICATION_HUB", "RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "REGISTRY", "PORTAL"];
const folder = mkdtempSync(join(tmpdir(), "swath-upgrade-"));
chmodSync(folder, 0o711);
const [earlier, present] = [join(folder, "earlier"), join(folder, "present")];

let deployment: Deployment;
const { takeToken } = openAccess(() => deployment);

before(async () => {
  if (skip === false) {
    deployment = await openDeployment({
      USE_TLS: "false",
      OPEN_INGRESS: "true",
      IDENTITY_SERVICE_TEST_USERS: "true",
      ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
    });
  }
});
after(async () => {
  await deployment?.close();
  rmSync(folder, { recursive: true, force: true });
});

const swath = (at: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
  runCommand(join(at, "bin/swath"), args, { env: { ...deployment.env, ...more } });
const apply = (at: string, more?: Readonly<Record<string, string>>) =>
  swath(at, ["deploy", "apply", NAME, DOMAIN, "192.0.2.10"], more);

function must(result: CommandResult): CommandResult {
  assert.equal(result.status, 0, result.stdout + result.stderr);
  return result;
}

/** What was made with the earlier version. */
async function checkData(): Promise<void> {
  const headers = { authorization: `Bearer ${await takeToken()}` };
  const workspace = await deployment.send("workspace-api", "/workspaces/ws-eric", { headers });
  assert.equal(workspace.status, 200, workspace.text);
}

test("data of an earlier version", { skip }, async () => {
  cloneVersion(earlier, EARLIER);
  const file = join(folder, "earlier.tar");
  const built = await runCommand(
    join(earlier, "tools/node"),
    ["tools/image/main.ts", "--tag", "swath:earlier", "--archive", file],
    { cwd: earlier },
  );
  must(built);
  await loadArchive(root, file);
  must(await apply(earlier, { SWATH_IMAGE: "localhost/swath:earlier" }));
  const headers = { authorization: `Bearer ${await takeToken()}`, "content-type": "application/json" };
  const body = JSON.stringify({ preferred_name: "eric", default_owner: "eric" });
  const made = await deployment.send("workspace-api", "/workspaces", { method: "POST", headers, body });
  assert.ok([200, 201].includes(made.status), made.text);
  await checkData();
});

test("the present version over it: a backup first, and the data are there", { skip }, async () => {
  cloneVersion(present);
  const { stdout } = must(await apply(present));
  const [, backup = ""] = /wrote (\S+)/.exec(stdout) ?? [];
  assert.ok(existsSync(backup), stdout);
  await checkData();
  const none = await swath(present, ["rollback", NAME]);
  assert.match(none.stderr, /one version only, or those before kept no record/);
});

test("a version without other migrations: no backup, and a way back", { skip }, async () => {
  const first = git(present, "rev-parse", "HEAD").stdout.trim();
  assert.equal(git(present, "commit", "--quiet", "--allow-empty", "-m", "next").status, 0);
  assert.doesNotMatch(must(await apply(present)).stdout, /wrote /);
  const { stdout } = must(await swath(present, ["rollback", NAME]));
  assert.match(stdout, new RegExp(`commit ${first.slice(0, 12)}`));
  await checkData();
});

test(
  "a version that changes the data: no way back but the backup, and no older version over it",
  { skip },
  async () => {
    const name = commitMigration(present, "identity");
    const { stdout } = must(await apply(present));
    assert.match(stdout, new RegExp(`changes the data: identity: ${name}[^]*wrote `));
    const refused = await swath(present, ["rollback", NAME]);
    assert.match(refused.stderr, new RegExp(`nothing was changed[^]*${name}[^]*swath restore .*before-upgrade`));
    const pods = await readPodNames();
    git(present, "checkout", "--quiet", "HEAD~1");
    const older = await apply(present);
    assert.equal(older.status, 1);
    assert.match(older.stderr, new RegExp(`nothing was changed[^]*newer version[^]*${name}`));
    assert.deepEqual(await readPodNames(), pods, "nothing was stopped");
    await checkData();
  },
);
