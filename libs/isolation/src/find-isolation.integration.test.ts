import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { waitUntil } from "@swath/testing";

const PROBE = `
  import { findIsolation } from ${JSON.stringify(join(import.meta.dirname, "index.ts"))};
  const report = findIsolation();
  console.log(JSON.stringify(report.works ? { works: true, kind: report.isolation.kind } : report));
`;
const isRoot = process.getuid?.() === 0;
const skip = isRoot ? false : "needs root, which can make a machine without user name spaces";

test(
  "without user name spaces, root has a sandbox by util-linux, and an ordinary user is told the command",
  { skip },
  async () => {
    // A user name space is such a machine: what forbids further ones holds in it alone.
    const machine = spawn("unshare", ["--user", "--mount", "--pid", "--fork", "--kill-child", "--net", "sleep", "120"]);
    try {
      const pid = await waitUntil("the machine is there", async () => {
        const children = readFileSync(`/proc/${machine.pid}/task/${machine.pid}/children`, "utf8").trim();
        return /^\d+$/.test(children) ? children : undefined;
      });
      for (const map of ["uid_map", "gid_map"]) {
        writeFileSync(`/proc/${pid}/${map}`, "0 0 65536");
      }
      const probe = (...as: readonly string[]) => {
        const enter = ["--target", pid, "--user", "--mount", "--pid", "--net"];
        const prepare = 'mount -t proc proc /proc; echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"';
        const node = [process.execPath, "--input-type=module-typescript", "--eval", PROBE];
        const { stdout, stderr } = spawnSync("nsenter", [...enter, "sh", "-c", prepare, "sh", ...as, ...node]);
        assert.notEqual(stdout.toString(), "", stderr.toString());
        return JSON.parse(stdout.toString()) as Record<string, string | boolean>;
      };
      assert.deepEqual(probe(), { works: true, kind: "util-linux" });
      const ordinary = probe("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups");
      assert.equal(ordinary["works"], false);
      assert.equal(ordinary["obstacle"], "user-namespaces");
      assert.equal(ordinary["command"], "sudo sysctl -w user.max_user_namespaces=16384");
      assert.match(String(ordinary["reason"]), /bubblewrap: .*; util-linux: /);
    } finally {
      machine.kill("SIGKILL");
    }
  },
);
