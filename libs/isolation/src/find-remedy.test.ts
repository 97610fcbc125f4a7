import assert from "node:assert/strict";
import { test } from "node:test";

import { findRemedy } from "./find-remedy.ts";

const read = (files: Readonly<Record<string, string>>) => (path: string) => files[path];
const none = () => false;

test("tells what forbids a sandbox from what is missing, with the command that mends it", () => {
  const off = read({ "/proc/sys/user/max_user_namespaces": "0" });
  assert.deepEqual(findRemedy(off, none, false), {
    obstacle: "user-namespaces",
    command: "sudo sysctl -w user.max_user_namespaces=16384",
  });
  assert.equal(findRemedy(off, none, true).command, "sysctl -w user.max_user_namespaces=16384");
  const ubuntu = read({ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1" });
  assert.deepEqual(findRemedy(ubuntu, none, false), {
    obstacle: "apparmor",
    command: "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
  });
  const debian = read({ "/proc/sys/kernel/unprivileged_userns_clone": "0" });
  assert.equal(findRemedy(debian, none, false).obstacle, "user-namespaces");
  // What restricts ordinary users does not restrict root.
  assert.match(findRemedy(ubuntu, none, true).command, /bubblewrap/);
  assert.equal(findRemedy(read({}), (path) => path === "/.dockerenv", true).obstacle, "container");
  assert.match(findRemedy(read({}), none, false).command, /^sudo \S+ .*bubblewrap/);
});
