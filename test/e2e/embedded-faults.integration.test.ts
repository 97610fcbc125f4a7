import assert from "node:assert/strict";
import { readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type TestCluster, createTestCluster, waitUntil, dummyServiceOnly } from "@swath/testing";

// Only what starts fast: PostgreSQL and the dummy service, behind the ingress.
const VARIABLES = {
  USE_TLS: "false",
  ...dummyServiceOnly,
};

let cluster: TestCluster;

before(async () => {
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});

after(() => cluster.close());

const dummyAnswers = async () => (await cluster.get("dummy-service", "/x")).status === 200;
const allReady = async () => {
  const pods = await cluster.pods();
  return pods.length === 3 && pods.every(({ ready }) => ready);
};
const supervisorPid = () =>
  (
    JSON.parse(
      readFileSync(join(cluster.directory, "logs/supervisor.log"), "utf8")
        .trim()
        .split("\n")
        .findLast((line) => line.includes("supervisor started")) ?? "{}",
    ) as { pid: number }
  ).pid;

/** Makes a file of the checkout newer. Its content stays as it is at every moment: other tests run it meanwhile. */
const touch = (file: string) => utimesSync(file, new Date(), new Date());

test("an apply with nothing to change touches nothing", async () => {
  const earlier = await cluster.pods();
  const { status } = await cluster.apply();
  assert.equal(status, 0);
  assert.deepEqual(await cluster.pods(), earlier);
});

for (const workload of ["dummy-service", "ingress", "postgres"]) {
  test(`kill -9 of ${workload}: it is started again and serves`, async () => {
    const { pid, restarts } = await cluster.pod(workload);
    process.kill(pid ?? 0, "SIGKILL");
    await waitUntil(`${workload} is back`, async () => {
      const pod = await cluster.pod(workload);
      return pod.ready && pod.restarts === restarts + 1 && pod.pid !== pid;
    });
    await waitUntil("the dummy service answers", dummyAnswers);
  });
}

test("kill -9 of the supervisor: pods go on serving, and the next apply takes them over", async () => {
  await waitUntil("all ready", allReady);
  const earlier = await cluster.pods();
  process.kill(supervisorPid(), "SIGKILL");
  assert.equal(await dummyAnswers(), true);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  assert.deepEqual(
    (await cluster.pods()).map(({ name, pid }) => [name, pid]),
    earlier.map(({ name, pid }) => [name, pid]),
  );
});

test("kill -9 of supervisor and a pod together: start brings the pod back", async () => {
  const { pid } = await cluster.pod("dummy-service");
  process.kill(supervisorPid(), "SIGKILL");
  process.kill(pid ?? 0, "SIGKILL");
  const { status, stdout, stderr } = await cluster.swath("start", cluster.name);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(await dummyAnswers(), true);
});

test("a changed setting replaces its pod alone, and no request fails meanwhile", async () => {
  const earlier = await cluster.pods();
  const failures: unknown[] = [];
  let requests = 0;
  const stop = new AbortController();
  const load = (async () => {
    while (!stop.signal.aborted) {
      requests += 1;
      const response = await cluster.get("dummy-service", "/load").catch((error: unknown) => error);
      if (!(typeof response === "object" && response !== null && "status" in response && response.status === 200)) {
        failures.push(response);
      }
      await sleep(10);
    }
  })();
  // A file of the service that is newer than before is a change like any other.
  const file = join(import.meta.dirname, "../../components/dummy-service/config.ts");
  touch(file);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  const before = requests;
  await waitUntil("more requests", () => requests > before + 10);
  stop.abort();
  await load;
  assert.deepEqual(failures, []);
  const later = await cluster.pods();
  const nameOf = (pods: readonly { name: string; workload: string }[], workload: string) =>
    pods.findLast((pod) => pod.workload === workload)?.name;
  assert.notEqual(nameOf(later, "dummy-service"), nameOf(earlier, "dummy-service"));
  assert.equal(nameOf(later, "postgres"), nameOf(earlier, "postgres"));
});

test("a newer deployment tool replaces the supervisor and leaves the pods running", async () => {
  await waitUntil("all ready", allReady);
  const earlier = await cluster.pods();
  const supervisor = supervisorPid();
  const file = join(import.meta.dirname, "../../cli/main.ts");
  touch(file);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  assert.notEqual(supervisorPid(), supervisor);
  const pids = (pods: typeof earlier) => pods.map(({ name, pid }) => [name, pid]);
  assert.deepEqual(pids(await cluster.pods()), pids(earlier));
});

test("two applies at once: the second waits, both succeed", async () => {
  const results = await Promise.all([cluster.apply(), cluster.apply()]);
  assert.deepEqual(
    results.map(({ status }) => status),
    [0, 0],
  );
});

test("an apply that is killed in the middle leaves nothing that the next one cannot mend", async () => {
  await cluster.swath("deploy", "delete", cluster.name);
  for (const milliseconds of [150, 350, 700, 1200]) {
    const controller = new AbortController();
    const running = cluster.apply({}, controller.signal);
    await sleep(milliseconds);
    controller.abort();
    await running;
  }
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  assert.equal(await dummyAnswers(), true);
});

test("a damaged state file is named, and nothing is deleted", async () => {
  const file = join(cluster.directory, "plan.json");
  const good = readFileSync(file, "utf8");
  await cluster.swath("stop", cluster.name);
  writeFileSync(file, good.slice(0, 100));
  const { status, stderr } = await cluster.apply();
  assert.equal(status, 1);
  assert.match(stderr, /plan\.json is damaged/);
  assert.equal(readFileSync(file, "utf8"), good.slice(0, 100));
  writeFileSync(file, good);
  assert.equal((await cluster.apply()).status, 0);
});

test("a port that somebody else has is named, with what to do", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => {
    other.listen({ host: "127.0.0.1", port: 0 }, resolve);
  });
  const address = other.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { status, stderr } = await cluster.apply({ LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${port}:80` });
  other.close();
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`port ${port} is taken`));
  assert.equal(await dummyAnswers(), true);
});

test("a state folder that cannot be written is named", async () => {
  const { status, stderr } = await cluster.apply({
    SWATH_STATE_DIR: "/dev/null/swath",
    // Ports of its own: this cluster's are taken by its ingress.
    LOCALCLUSTER_EXTRA_OPTIONS: "",
  });
  assert.equal(status, 1);
  assert.match(stderr, /state folder \/dev\/null\/swath.* cannot be used/);
});

test("what was committed to the database is there after delete and apply", async () => {
  await cluster.swath("deploy", "delete", cluster.name);
  assert.deepEqual(await cluster.pods(), []);
  const data = join(cluster.directory, "volumes/storage/postgres/data/PG_VERSION");
  assert.match(readFileSync(data, "utf8"), /^18/);
  assert.equal((await cluster.apply()).status, 0);
});

test("clean refuses while something is deployed, removes volumes afterwards and keeps the cluster", async () => {
  const refused = await cluster.swath("clean", cluster.name);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /has a deployment/);
  await cluster.swath("deploy", "delete", cluster.name);
  const unasked = await cluster.swath("clean", cluster.name);
  assert.equal(unasked.status, 1);
  assert.match(unasked.stderr, /This removes:[\s\S]*volume storage\/postgres \([\d.]+ MiB\)[\s\S]*--yes/);
  const { status, stdout } = await cluster.swath("clean", cluster.name, "--yes");
  assert.equal(status, 0);
  assert.match(stdout, /removed .*volumes/);
  assert.match(stdout, /stays: .*cluster\.json .*same addresses/);
  assert.deepEqual(readdirSync(cluster.directory), ["cluster.json"], "no secret, log or key is left");
  assert.match((await cluster.swath("cluster", "list")).stdout, new RegExp(cluster.name));
});
