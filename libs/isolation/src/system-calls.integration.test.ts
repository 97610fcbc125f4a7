import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

import { findIsolation } from "./find-isolation.ts";
import { findProgram } from "./find-program.ts";
import type { Isolation } from "./sandbox.ts";

const EPERM = 1;
const ENOSYS = 38;
/** Numbers of x86-64, with what a program is to be told. Without a filter, each is another error or none. */
const CALLS = {
  mount: [165, EPERM],
  add_key: [248, EPERM],
  keyctl: [250, EPERM],
  unshare: [272, EPERM],
  perf_event_open: [298, EPERM],
  bpf: [321, EPERM],
  userfaultfd: [323, EPERM],
  io_uring_setup: [425, EPERM],
  clone3: [435, ENOSYS],
} as const;

const skipCalls =
  process.arch === "x64" && findProgram(["perl"]) !== undefined
    ? false
    : "needs an x86-64 processor and Perl, which makes system calls by their numbers";

for (const only of ["bubblewrap", "util-linux"] as const) {
  const report = findIsolation({ only });
  const skip = report.works ? false : `${report.reason}; ${report.command}`;

  test(`programs in ${only} have a filter of system calls`, { skip }, (t) => {
    assert.ok(report.works && report.isolation.filtersSystemCalls, "the filter was not loaded");
    assert.match(run(t, report.isolation, ["cat", "/proc/self/status"]), /^Seccomp:\t2$/m);
  });

  test(
    `no program in ${only} mounts, nests name spaces, or reaches keys, rings and tracing`,
    { skip: skip || skipCalls },
    (t) => {
      assert.ok(report.works);
      const numbers = Object.values(CALLS).map(([number]) => number);
      const script = `for (${numbers.join(",")}) { print syscall($_, 0, 0, 0, 0, 0) == -1 ? $! + 0 : 0, "\\n" }`;
      const errors = run(t, report.isolation, ["perl", "-e", script]).trim().split("\n").map(Number);
      const found = Object.keys(CALLS).map((name, at) => [name, errors[at]]);
      assert.deepEqual(
        found,
        Object.entries(CALLS).map(([name, [, error]]) => [name, error]),
      );
    },
  );

  test(`programs of every day run in ${only}`, { skip }, (t) => {
    assert.ok(report.works);
    const script =
      'echo one | tr o 0 | { read x; echo "$x"; } && sh -c "exit 3"; echo $? && ls -l /proc/self/fd | wc -l';
    assert.match(run(t, report.isolation, ["bash", "-c", script]), /^0ne\n3\n\d+\n$/);
  });
}

function run(t: TestContext, { wrap }: Isolation, inner: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), "swath-calls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const limits = { processes: 4096, openFiles: 64 };
  const { command, environment } = wrap(
    { scratch: { bytes: 2 ** 20 }, view: [], workdir: "/", limits, file: join(folder, "sandbox") },
    { command: inner, environment: {} },
  );
  const [program = "", ...args] = command;
  const { stdout, stderr, status } = spawnSync(program, args, { env: environment, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  return stdout;
}
