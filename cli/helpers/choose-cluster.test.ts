import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { clusterPaths } from "../targets/embedded/state/paths.ts";
import { chooseCluster } from "./choose-cluster.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-choose-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const env = { SWATH_STATE_DIR: folder };
const deploy = (name: string, domain: string) => {
  const { planFile } = clusterPaths(name, env);
  mkdirSync(join(planFile, ".."), { recursive: true });
  writeFileSync(planFile, JSON.stringify({ plan: { settings: { domain } } }));
};

test("chooses by name, by domain, or the only one", async () => {
  assert.equal(await chooseCluster(env, "one.example.org"), undefined);
  deploy("one", "one.example.org");
  assert.equal(await chooseCluster(env), "one", "the only one");
  deploy("two", "two.example.org");
  assert.equal(await chooseCluster(env), undefined, "two, none of them the default");
  assert.equal(await chooseCluster(env, "two.example.org"), "two");
  assert.equal(await chooseCluster({ ...env, SWATH_CLUSTER: "one" }, "two.example.org"), "one");
  deploy("swath", "default.example.org");
  assert.equal(await chooseCluster(env), "swath");
  assert.equal(await chooseCluster(env, "two.example.org"), "two");
});
