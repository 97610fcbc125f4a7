// A run that dies goes on from its last finished step: kill -9, changed files, changed inputs, orphans.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { waitUntil } from "@swath/testing";
import { CwlError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { killAll } from "../executors/kill-tree.ts";
import { createProcessExecutor } from "../executors/process.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue, ValueObject } from "../model/values.ts";
import type { RunOptions } from "../run/run-options.ts";
import { runProcess } from "../run/run-process.ts";
import { removeJournal } from "../run/run-directory.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-journal-")));
after(async () => {
  await killAll({ marker: "none", leader: undefined, directory: scratch });
  rmSync(scratch, { recursive: true, force: true });
});
const executors = { host: createProcessExecutor() };

/** Three steps in a row, the middle one scattered; each job says on a line of `trace` that it ran. */
function pipeline(trace: string): string {
  const tool = (name: string, command: string, inputs: string): string => `
      class: CommandLineTool
      baseCommand: [sh, -c, '${command.replace("TRACE", `echo ${name} >> ${trace}`)}']
      inputs: ${inputs}
      outputs: {out: {type: File, outputBinding: {glob: out.txt}}}`;
  return `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, MultipleInputFeatureRequirement: {}}
inputs: {text: string, parts: "string[]"}
outputs: {result: {type: File, outputSource: last/out}}
steps:
  first:
    in: {text: text}
    out: [out]
    run:${tool("first", "TRACE; echo $0 > out.txt", "{text: {type: string, inputBinding: {}}}")}
  many:
    scatter: part
    in: {file: first/out, part: parts}
    out: [out]
    run:${tool(
      "many-$1",
      "TRACE; [ ! -e STOP-$1 ] || sleep 600; cat $0 > out.txt; echo $1 >> out.txt",
      "{file: {type: File, inputBinding: {position: 1}}, part: {type: string, inputBinding: {position: 2}}}",
    ).replaceAll("STOP", `${trace}.stop`)}
  last:
    in: {files: many/out}
    out: [out]
    run:${tool("last", 'TRACE; cat "$0" "$@" > out.txt', '{files: {type: "File[]", inputBinding: {}}}')}
`;
}

interface Setting {
  readonly folder: string;
  readonly trace: string;
  readonly document: string;
  readonly inputs: object;
  readonly journal: string;
  readonly outDir: string;
}

function setUp(name: string): Setting {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const trace = join(folder, "trace");
  const document = join(folder, "pipeline.cwl");
  writeFileSync(trace, "");
  writeFileSync(document, pipeline(trace));
  return {
    folder,
    trace,
    document,
    inputs: { text: "hello", parts: ["a", "b", "c"] },
    journal: join(folder, "journal"),
    outDir: join(folder, "out"),
  };
}

const expected = "hello\na\nhello\nb\nhello\nc\n";

async function run(
  setting: Setting,
  events: RunEvent[] = [],
  inputs = setting.inputs,
  more: Partial<RunOptions> = {},
): Promise<ValueObject> {
  return await runProcess({
    ...more,
    document: await loadDocument(setting.document),
    inputs: { ...inputs },
    outDir: setting.outDir,
    journal: setting.journal,
    executors,
    limits: { cores: 1 },
    onEvent: (event) => events.push(event),
  });
}

/** Steps that ran since the last call, in order. */
function ran(setting: Setting): string[] {
  const lines = readFileSync(setting.trace, "utf8").split("\n").filter(Boolean);
  writeFileSync(setting.trace, "");
  return lines;
}

function resultOf(outputs: ValueObject): string {
  return readFileSync(new URL((outputs["result"] as FileValue).location ?? ""), "utf8");
}

/** Runs in a process of its own and kills that with signal 9 as soon as the trace holds a line and the journal what is done. */
async function runAndKill(setting: Setting, line: string, done: number): Promise<void> {
  const code = `
    import { loadDocument, runProcess } from ${JSON.stringify(join(import.meta.dirname, "../index.ts"))};
    await runProcess({
      document: await loadDocument(${JSON.stringify(setting.document)}),
      inputs: ${JSON.stringify(setting.inputs)},
      outDir: ${JSON.stringify(setting.outDir)},
      journal: ${JSON.stringify(setting.journal)},
      limits: { cores: 1 },
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const journal = join(setting.journal, "journal");
  await waitUntil(
    `${line} is reached`,
    () =>
      child.exitCode !== null ||
      (readFileSync(setting.trace, "utf8").split("\n").includes(line) &&
        (readFileSync(journal, "utf8").match(/^\{"done":/gm) ?? []).length >= done),
  );
  assert.equal(child.exitCode, null, `${line} was never reached`);
  child.kill("SIGKILL");
  await ended;
}

function processesIn(folder: string): string[] {
  return readdirSync("/proc").filter((name) => {
    try {
      return (
        /^\d+$/.test(name) &&
        Number(name) !== process.pid &&
        readFileSync(`/proc/${name}/environ`, "latin1").includes(folder)
      );
    } catch {
      return false;
    }
  });
}

test("after kill -9 the run goes on from the jobs that had finished, and the orphan is ended", async () => {
  const setting = setUp("killed");
  writeFileSync(`${setting.trace}.stop-b`, "");
  await runAndKill(setting, "many-b", 2);
  assert.deepEqual(ran(setting), ["first", "many-a", "many-b"]);
  assert.notDeepEqual(processesIn(setting.journal), [], "the tool should have outlived the engine");
  rmSync(`${setting.trace}.stop-b`);
  const events: RunEvent[] = [];
  const outputs = await run(setting, events);
  assert.deepEqual(ran(setting), ["many-b", "many-c", "last"]);
  assert.equal(resultOf(outputs), expected);
  assert.deepEqual(processesIn(setting.journal), []);
  const [started] = events;
  assert.ok(started?.type === "run-started" && started.resumed);
  assert.deepEqual(
    events.flatMap((event) => (event.type === "step-finished" && event.reused ? [event.step] : [])),
    ["first", "many[0]"],
  );
  assert.ok(!existsSync(join(setting.journal, "work")), "the files of a complete run are gone");
});

test("a complete run gives its outputs again without running, unless they were changed", async () => {
  const setting = setUp("complete");
  const first = await run(setting);
  assert.equal(ran(setting).length, 5);
  assert.deepEqual(await run(setting), first);
  assert.deepEqual(ran(setting), []);
  appendFileSync(new URL((first["result"] as FileValue).location ?? ""), "more");
  assert.equal(resultOf(await run(setting)), expected);
  assert.equal(ran(setting).length, 5);
});

test("working files of a complete run stay where the caller removes them, and it is not run again", async () => {
  const setting = setUp("kept");
  const first = await run(setting, [], setting.inputs, { keepJournalWork: true });
  assert.ok(existsSync(join(setting.journal, "work")));
  assert.equal(ran(setting).length, 5);
  rmSync(join(setting.journal, "work"), { recursive: true });
  assert.deepEqual(await run(setting), first);
  assert.deepEqual(ran(setting), []);
});

test("a failed run goes on when its cause is gone; a step whose files were changed runs again", async () => {
  const setting = setUp("failed");
  // What the workflow gives out itself is not removed before its end.
  const text = readFileSync(setting.document, "utf8").replace(
    "outputs: {",
    "outputs: {kept: {type: File, outputSource: first/out}, ",
  );
  writeFileSync(setting.document, text.replace("echo last", "test -e fine || exit 9; echo last"));
  await assert.rejects(run(setting), (error: unknown) => error instanceof CwlError && error.exitCode === 9);
  assert.deepEqual(ran(setting), ["first", "many-a", "many-b", "many-c"]);
  await assert.rejects(run(setting));
  assert.deepEqual(ran(setting), [], "finished steps are not run again");
  writeFileSync(setting.document, text);
  const work = join(setting.journal, "work");
  const changed = readdirSync(work)
    .map((job) => join(work, job, "out.txt"))
    .find((path) => existsSync(path) && readFileSync(path, "utf8") === "hello\nb\n");
  appendFileSync(changed ?? "", "tampered");
  assert.equal(resultOf(await run(setting)), expected);
  assert.deepEqual(ran(setting), ["many-b", "last"]);
});

test("other inputs are another run", async () => {
  const setting = setUp("inputs");
  await run(setting);
  ran(setting);
  const outputs = await run(setting, [], { text: "hello", parts: ["a", "z"] });
  assert.equal(resultOf(outputs), "hello\na\nhello\nz\n");
});

test("files that no later step needs are removed while the run goes on, and not missed when it is continued", async () => {
  const setting = setUp("removed");
  const text = readFileSync(setting.document, "utf8");
  writeFileSync(setting.document, text.replace("echo last", "exit 9; echo last"));
  await assert.rejects(run(setting));
  ran(setting);
  const contents = readdirSync(join(setting.journal, "work"))
    .filter((name) => /^\d+$/.test(name))
    .map((job) => readFileSync(join(setting.journal, "work", job, "out.txt"), "utf8"));
  assert.deepEqual(contents.sort(), ["hello\na\n", "hello\nb\n", "hello\nc\n"], "the first step's file is not needed");
  writeFileSync(setting.document, text);
  assert.equal(resultOf(await run(setting)), expected);
  assert.deepEqual(ran(setting), ["last"]);
});

test("when removed files are needed after all, everything is done anew", async () => {
  const setting = setUp("lost");
  const text = readFileSync(setting.document, "utf8");
  writeFileSync(setting.document, text.replace("echo last", "exit 9; echo last"));
  await assert.rejects(run(setting));
  ran(setting);
  writeFileSync(setting.document, text);
  rmSync(join(setting.journal, "work"), { recursive: true });
  assert.equal(resultOf(await run(setting)), expected);
  assert.equal(ran(setting).length, 5);
});

test("a journal that was torn or damaged is read as far as it is whole", async () => {
  const setting = setUp("torn");
  const text = readFileSync(setting.document, "utf8");
  writeFileSync(setting.document, text.replace("echo last", "exit 9; echo last"));
  await assert.rejects(run(setting));
  ran(setting);
  writeFileSync(setting.document, text);
  const path = join(setting.journal, "journal");
  appendFileSync(path, '{"done":"half of a rec');
  assert.equal(resultOf(await run(setting)), expected);
  assert.deepEqual(ran(setting), ["last"]);
  writeFileSync(path, "\0\0\0 no journal at all\n");
  rmSync(setting.outDir, { recursive: true });
  assert.equal(resultOf(await run(setting)), expected);
});

test("two processes do not work on one journal, and a run that is not wanted is removed with all it left", async () => {
  const setting = setUp("owned");
  writeFileSync(`${setting.trace}.stop-a`, "");
  const stop = new AbortController();
  const running = runProcess({
    document: await loadDocument(setting.document),
    inputs: { ...setting.inputs },
    outDir: setting.outDir,
    journal: setting.journal,
    signal: stop.signal,
    onEvent: (event) => {
      if (event.type === "step-finished" && event.step === "first") {
        void run(setting).then(
          () => stop.abort("it was let in"),
          (error: unknown) => stop.abort(error),
        );
      }
    },
  });
  await assert.rejects(running, (error: unknown) => error instanceof CwlError && error.code === "cancelled");
  assert.match(String(stop.signal.reason), /is working on the run/);
  ran(setting);
  await runAndKill(setting, "many-a", 1);
  assert.notDeepEqual(processesIn(setting.journal), []);
  await removeJournal(setting.journal, executors);
  assert.deepEqual(processesIn(setting.journal), []);
  assert.ok(!existsSync(setting.journal));
});

test("after another boot of the machine only what was on the disk for sure counts", async () => {
  const setting = setUp("reboot");
  await run(setting);
  assert.equal(ran(setting).length, 5);
  const path = join(setting.journal, "journal");
  const lines = readFileSync(path, "utf8").split("\n");
  assert.match(lines[0] ?? "", /^\{"boot":/);
  // The same run as of an earlier boot, which ended before any of it had been worth a wait for the disk.
  writeFileSync(
    path,
    [`{"boot":"another"}`, ...lines.slice(1)].filter((line) => !line.includes('"synced"')).join("\n"),
  );
  assert.equal(resultOf(await run(setting)), expected);
  assert.equal(ran(setting).length, 5, "all is done anew");
  assert.deepEqual(readdirSync(setting.outDir), ["out.txt"], "in place of what was there");
});
