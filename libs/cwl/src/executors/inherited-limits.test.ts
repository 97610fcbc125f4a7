import assert from "node:assert/strict";
import { test } from "node:test";
import { inheritedLimits } from "./inherited-limits.ts";

test("a container gets the limits of the process that starts it, and never more than engines ask for", () => {
  const limits = `Limit                     Soft Limit           Hard Limit           Units
Max processes             96365                96365                processes
Max open files            1024                 20000                files
`;
  assert.deepEqual(inheritedLimits(limits), ["--ulimit=nofile=20000:20000", "--ulimit=nproc=32768:32768"]);
  assert.deepEqual(inheritedLimits(limits.replaceAll(/\d{5}/g, "unlimited")), [
    "--ulimit=nofile=1048576:1048576",
    "--ulimit=nproc=32768:32768",
  ]);
  assert.deepEqual(inheritedLimits(""), []);
});
