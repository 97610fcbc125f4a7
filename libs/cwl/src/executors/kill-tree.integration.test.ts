import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { listDescendants, listFamily } from "./kill-tree.ts";

test("descendants are found without a look at every process", { skip: process.platform !== "linux" }, async () => {
  const child = spawn("/bin/sh", ["-c", "(sleep 30 & echo $!; wait) & wait"], { detached: true });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const leader = child.pid ?? 0;
  try {
    const found = listDescendants(leader) ?? listFamily(leader);
    assert.ok(found.includes(Number(line)), `${line.toString()} in ${found.join(" ")}`);
    assert.deepEqual(new Set(found), new Set(listFamily(leader)));
    assert.deepEqual(listDescendants(2 ** 30) ?? [2 ** 30], [2 ** 30], "one that has ended has none");
  } finally {
    process.kill(-leader, "SIGKILL");
    await once(child, "close");
  }
});
