// What is tried again when the machinery below a tool fails, and how often.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { CwlError } from "../errors.ts";
import type { Executor } from "../executors/executor.ts";
import { createProcessExecutor } from "../executors/process.ts";
import { loadDocument } from "../load/load.ts";
import { runProcess } from "./run-process.ts";
import type { RunOptions } from "./run-options.ts";

const scratch = mkdtempSync(join(tmpdir(), "cwl-retry-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const run = async (script: string, host: Executor, limits: RunOptions["limits"] = {}) =>
  runProcess({
    document: await loadDocument("https://example.org/doc.cwl", {
      text: `cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: [sh, -c, ${script}]\ninputs: {}\noutputs: {}\n`,
    }),
    inputs: {},
    outDir: join(scratch, "out"),
    workDir: join(scratch, "work"),
    executors: { host },
    limits,
  });

/** Runs tools as processes once it has failed so often. */
function failFirst(times: number, failure: CwlError): { readonly executor: Executor; readonly calls: () => number } {
  const real = createProcessExecutor();
  let calls = 0;
  return {
    calls: () => calls,
    executor: {
      ...real,
      run: async (job, controls) => {
        calls += 1;
        if (calls <= times) {
          throw failure;
        }
        return await real.run(job, controls);
      },
    },
  };
}

test("failures of the machinery are tried again, failures of the tool are not", async () => {
  const { executor, calls } = failFirst(2, new CwlError("infrastructure", "no room at the moment"));
  await run("true", executor);
  assert.equal(calls(), 3);
  await assert.rejects(run("exit 1", executor));
  assert.equal(calls(), 4);
  const lasting = failFirst(3, new CwlError("infrastructure", "no room at the moment"));
  await assert.rejects(run("true", lasting.executor), /no room/);
});

test("a tool that is preempted is tried again as often as that happens", async () => {
  const failure = new CwlError("infrastructure", "something more important came", { isPreempted: true });
  const { executor, calls } = failFirst(4, failure);
  await run("true", executor, { infrastructureRetries: 0 });
  assert.equal(calls(), 5);
});
