import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { type TestCluster, createTestCluster, runCommand } from "@swath/testing";

import { checkStory } from "./check-story.ts";

// What deploy/simple/simple deploys, and the story that deploy/simple/tour lives on it; test/kubernetes/tour.kubernetes.test.ts is the same there.
const SIMPLE = join(import.meta.dirname, "../../deploy/simple");

let cluster: TestCluster;
let closing: (() => Promise<void>) | undefined;
before(async () => {
  cluster = await createTestCluster({});
  closing = cluster.close;
  const { status, stdout, stderr } = await runCommand(join(SIMPLE, "simple"), [cluster.name, cluster.domain, "--yes"], {
    env: cluster.env,
  });
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /^Next, the whole of it in a minute: deploy\/simple\/tour test-\d+$/m);
});
after(() => closing?.());

test("the story: harvest, find, look, process, share, explore, change, and see it from elsewhere", async () => {
  await checkStory(cluster);
});

test("the launcher does it all again, and says where to look", async () => {
  const { status, stdout, stderr } = await runCommand(join(SIMPLE, "tour"), [cluster.name], { env: cluster.env });
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(
    [...stdout.matchAll(/^(\d+)\. /gm)].map(([, number]) => Number(number)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  );
  assert.match(stdout, /^eric\$ bin\/swath share bob --remove$/m, "bob was in from the first time");
  assert.match(stdout, /answered 404/, "and may not look before he is let in again");
  assert.match(stdout, /the notebook +http:\/\/eric--notebook\./);
  assert.doesNotMatch(stdout, /changeme/);
});

test("where something is missing, it says so and what to do", async () => {
  const wanting = await runCommand(join(SIMPLE, "tour"), ["no-such-cluster"], { env: cluster.env });
  assert.equal(wanting.status, 1);
  assert.match(wanting.stderr, /there is no cluster "no-such-cluster"/);
  const { status, stdout, stderr } = await cluster.apply({
    REQUIRE_REGISTRY: "false",
    OPEN_INGRESS: "true",
    USE_TLS: "false",
  });
  assert.equal(status, 0, stdout + stderr);
  const lacking = await runCommand(join(SIMPLE, "tour"), [cluster.name], { env: cluster.env });
  assert.equal(lacking.status, 1);
  assert.match(lacking.stderr, /has no registry; the tour needs all components: deploy\/simple\/simple/);
});
