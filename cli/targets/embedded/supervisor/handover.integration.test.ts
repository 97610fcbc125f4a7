// A workload that owns a volume is replaced: two never have it open, and the old one serves until the new one is loaded.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { type TestContext, test } from "node:test";

import { waitUntil } from "@swath/testing";

import { repositoryRoot } from "../launch/code-version.ts";
import type { LaunchSpec } from "../launch/launch-spec.ts";
import { clusterPaths } from "../state/paths.ts";
import { WorkloadController } from "./workload-controller.ts";

/** Writes down what it does, and cannot be built a second time at once. */
const PROGRAM = `
  import { appendFileSync, rmSync, writeFileSync } from "node:fs";
  import { createServer } from "node:http";
  import { defineSettings, runService } from ${JSON.stringify(join(repositoryRoot, "libs/service/src/index.ts"))};
  await runService({
    name: "owner",
    settings: defineSettings({
      VERSION: { kind: "string", description: "which it is" },
      VOLUME: { kind: "string", description: "what one alone may have" },
      NEEDED: { kind: "string", description: "what a broken one lacks" },
    }),
    build: ({ settings }) => {
      const lock = settings.VOLUME + "/lock";
      writeFileSync(lock, "", { flag: "wx" });
      appendFileSync(settings.VOLUME + "/history", settings.VERSION + " opens\\n");
      return {
        servers: { http: createServer() },
        close: () => {
          appendFileSync(settings.VOLUME + "/history", settings.VERSION + " closes\\n");
          rmSync(lock);
        },
      };
    },
  });`;

function createOwner(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "swath-handover-"));
  const volume = join(folder, "volume");
  mkdirSync(volume);
  writeFileSync(join(folder, "owner.mjs"), PROGRAM);
  const paths = clusterPaths("c", { SWATH_STATE_DIR: folder });
  mkdirSync(paths.logs, { recursive: true });
  const controller = new WorkloadController("owner", {
    paths,
    accounts: undefined,
    onChange: () => setImmediate(() => controller.reconcile(undefined)),
  });
  const want = (version: string, env: Readonly<Record<string, string>> = { NEEDED: "here" }) => {
    controller.desired = {
      workload: {
        name: "owner",
        namespace: "n",
        component: "owner",
        kind: "service",
        strategy: "recreate",
        env: {},
        ports: [{ name: "http", number: 80 }],
        resources: {} as LaunchSpec["workload"]["resources"],
      },
      program: relative(repositoryRoot, join(folder, "owner.mjs")),
      account: undefined,
      env: { VERSION: version, VOLUME: volume, ...env },
      hash: version,
    };
    controller.reconcile(undefined);
  };
  context.after(async () => {
    controller.desired = undefined;
    controller.reconcile(undefined);
    await waitUntil("all pods are gone", () => controller.pods.every(({ gone }) => gone));
    rmSync(folder, { recursive: true, force: true });
  });
  const history = () => readFileSync(join(volume, "history"), "utf8").trim().split("\n");
  const isServed = (version: string) => controller.serving?.spec.hash === version && controller.serving.ready;
  return { controller, want, history, isServed };
}

test("the old one serves until its successor is loaded, and has closed the volume before that opens it", async (context) => {
  const { controller, want, history, isServed } = createOwner(context);
  want("1");
  await waitUntil("the first serves", () => isServed("1"));
  want("2");
  await waitUntil("the second is loaded", () => {
    const isLoaded = controller.current?.waitsForPredecessor === true;
    assert.ok(isLoaded || isServed("1") || controller.current?.ready === true);
    return isLoaded || isServed("2");
  });
  await waitUntil("the second serves", () => isServed("2"));
  assert.deepEqual(history(), ["1 opens", "1 closes", "2 opens"]);
  assert.equal(controller.current?.restarts, 0);
});

test("one that cannot start takes nothing from the one that serves, until it is mended", async (context) => {
  const { controller, want, history, isServed } = createOwner(context);
  want("1");
  await waitUntil("the first serves", () => isServed("1"));
  want("broken", {});
  await waitUntil("the broken one failed twice", () => (controller.current?.restarts ?? 0) >= 2);
  assert.ok(isServed("1"));
  assert.match(controller.current?.message ?? "", /status 78/);
  want("2");
  await waitUntil("the second serves", () => isServed("2"));
  assert.deepEqual(history(), ["1 opens", "1 closes", "2 opens"]);
});

test("a successor that is killed while it waits is started again and waits again", async (context) => {
  const { controller, want, history, isServed } = createOwner(context);
  want("1");
  await waitUntil("the first serves", () => isServed("1"));
  want("2");
  process.kill(controller.current?.pid ?? 0, "SIGKILL");
  await waitUntil("the second serves", () => isServed("2"));
  assert.deepEqual(history(), ["1 opens", "1 closes", "2 opens"]);
});
