import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { CONTAINER_FILTER } from "./container-filter.ts";

interface Rule {
  readonly names: readonly string[];
  readonly action: string;
  readonly args?: readonly object[];
}

const { defaultAction, syscalls } = JSON.parse(readFileSync(CONTAINER_FILTER.split("=").at(-1) ?? "", "utf8")) as {
  readonly defaultAction: string;
  readonly syscalls: readonly Rule[];
};
const rulesOf = (name: string) => syscalls.filter(({ names }) => names.includes(name));

test("containers cannot make name spaces, mount, trace, or use keys and rings", () => {
  assert.equal(defaultAction, "SCMP_ACT_ERRNO");
  for (const name of ["unshare", "setns", "mount", "pivot_root", "bpf", "keyctl", "io_uring_setup", "userfaultfd"]) {
    assert.deepEqual(
      rulesOf(name).map(({ action }) => action),
      ["SCMP_ACT_ERRNO"],
      name,
    );
  }
  // Programs fall back to clone, whose flags a filter can look at.
  assert.deepEqual(rulesOf("clone3"), []);
  assert.deepEqual(
    rulesOf("clone").map(({ action, args }) => [action, args?.length]),
    [["SCMP_ACT_ALLOW", 1]],
  );
});

test("containers can do what programs need", () => {
  for (const name of ["read", "openat", "execve", "futex", "socket", "mmap"]) {
    assert.ok(
      rulesOf(name).some(({ action }) => action === "SCMP_ACT_ALLOW"),
      name,
    );
  }
});
