// Nothing is removed unasked: what goes is shown, names are never guessed.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, runCommand } from "@swath/testing";

/** The dummy service alone, and with the portal. */
const OTHERS = ["IDENTITY_SERVICE", "ADES", "APPLICATION_HUB", "RESOURCE_CATALOGUE", "DATA_ACCESS"].concat([
  "REGISTRATION_API",
  "WORKSPACE_API",
  "REGISTRY",
  "OBJSTORE",
  "STORAGE",
  "PORTAL",
]);
const VARIABLES = {
  REQUIRE_DUMMY_SERVICE: "true",
  OPEN_INGRESS: "true",
  USE_TLS: "false",
  ...Object.fromEntries(OTHERS.map((name) => [`REQUIRE_${name}`, "false"])),
};

let cluster: TestCluster;
before(async () => {
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply({ REQUIRE_STORAGE: "true" });
  assert.equal(status, 0, stdout + stderr);
});
after(() => cluster?.close());

test("an apply that would remove services shows them, and changes nothing without --yes", async () => {
  const earlier = await cluster.pods();
  const { status, stdout, stderr } = await cluster.swath("deploy", "apply", cluster.name, cluster.domain);
  assert.equal(status, 1, stdout);
  assert.match(stderr, /This removes:\n {2}.*deployed now, and not part of what is applied; its data is kept/);
  assert.match(stderr, /Repeat the command with --yes/);
  assert.deepEqual(
    (await cluster.pods()).map(({ name }) => name),
    earlier.map(({ name }) => name),
  );
});

test("clusters are deleted by name only, with consent only", async () => {
  const nameless = await cluster.swath("cluster", "delete");
  assert.equal(nameless.status, 2);
  assert.match(nameless.stderr, new RegExp(`which cluster\\? There are: .*${cluster.name}`));
  const unasked = await cluster.swath("cluster", "delete", cluster.name);
  assert.equal(unasked.status, 1);
  assert.match(unasked.stderr, /This removes:[\s\S]*pods that are running[\s\S]*Repeat the command with --yes/);
  assert.ok(existsSync(join(cluster.directory, "plan.json")));
});

test("clean of a cluster that does not exist is an error", async () => {
  const { status, stderr } = await cluster.swath("clean", "nope", "--yes");
  assert.equal(status, 1);
  assert.match(stderr, /there is no cluster "nope"; there are: /);
});

test("on a terminal the person is asked; anything but yes changes nothing", async () => {
  const main = join(import.meta.dirname, "../cli/main.ts");
  const command = [process.execPath, main, "cluster", "delete", cluster.name].map((word) => `'${word}'`).join(" ");
  // `script` gives the command a terminal.
  const run = (reply: string) =>
    runCommand("script", ["-qec", command, "/dev/null"], {
      env: { ...cluster.env, TERM: "dumb" },
      input: `${reply}\n`,
    });
  const refused = await run("no");
  assert.match(refused.stdout, /Continue\? Type yes: [\s\S]*Nothing was changed/);
  assert.ok(existsSync(join(cluster.directory, "plan.json")));
  const agreed = await run("yes");
  assert.match(agreed.stdout, /deleted cluster/);
  assert.equal(existsSync(cluster.directory), false);
});

test("every wrapper hands all its arguments to the script", () => {
  for (const name of ["simple", "processing", "data-access", "exploitation", "userman", "apphub", "clouddata"]) {
    const text = readFileSync(join(import.meta.dirname, "../deploy", name, name), "utf8");
    assert.match(text, /^(exec |.*then exec )?"\$here\/\.\.\/swath\/swath\.sh" apply "\$@"(; fi)?$/m, name);
  }
});
