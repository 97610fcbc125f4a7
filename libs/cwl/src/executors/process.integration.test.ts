import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { createProcessExecutor } from "./process.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-process-")));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("what a job leaves running is ended; a process of somebody else with a home beside the job's is not", async () => {
  const executor = createProcessExecutor();
  const [home, others] = ["job", "others"].map((name) => join(scratch, name)) as [string, string];
  mkdirSync(home);
  mkdirSync(others);
  const location = { host: home, seen: home };
  const job = {
    id: "run-0",
    name: "test",
    // Leaves its group and session, so that its home alone tells whose it is.
    command: ["sh", "-c", 'setsid sleep 60 & echo "$!"'],
    environment: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: home },
    outdir: location,
    tmpdir: location,
    mounts: [],
    stdin: undefined,
    stdout: undefined,
    stderr: undefined,
    container: undefined,
    network: false,
    cores: 1,
    ramMiB: 0,
    ramLimitMiB: 0,
    timeLimitSeconds: 0,
  };
  let bystander: ReturnType<typeof spawn> | undefined;
  try {
    const running = executor.run(job, { signal: new AbortController().signal, onLog: () => undefined });
    // After the job began: what is older is never looked at.
    bystander = spawn("sleep", ["60"], { env: { PATH: process.env["PATH"], HOME: others, TMPDIR: others } });
    assert.equal((await running).exitCode, 0);
    await executor.cleanUp?.(["run-"]);
    assert.equal(bystander.exitCode ?? bystander.signalCode, null);
    await executor.cleanUp?.(["run-"], home);
    await executor.removeOrphans?.("run", home);
    assert.equal(bystander.exitCode ?? bystander.signalCode, null);
  } finally {
    bystander?.kill("SIGKILL");
  }
});
