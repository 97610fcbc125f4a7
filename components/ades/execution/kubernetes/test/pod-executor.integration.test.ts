import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { waitUntil } from "@swath/testing";
import { mustKubectl } from "@swath/testing/kubernetes";

import { hasStarted } from "../pod-types.ts";
import { IMAGE, type PodFixture, USER, startPodFixture, findPodsSkipReason } from "./pod-fixture.ts";
import type { PodRun, PodRunResult } from "./run-tool.ts";

const skip = (await findPodsSkipReason()) ?? false;
let fixture: PodFixture;
before(async () => {
  if (skip === false) {
    fixture = await startPodFixture();
  }
});
after(() => fixture?.close());

/** A tool in CWL: a shell script in the test's image. */
function toTool(script: string, more: Record<string, unknown> = {}, requirements: Record<string, unknown> = {}) {
  return JSON.stringify({
    cwlVersion: "v1.2",
    class: "CommandLineTool",
    requirements: { DockerRequirement: { dockerPull: IMAGE }, ...requirements },
    inputs: {},
    baseCommand: ["sh", "-c", script],
    outputs: {},
    ...more,
  });
}

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly end: PodRunResult | undefined; readonly log: string }>;
}

function start(job: string, document: string, more: Partial<PodRun> = {}): Running {
  const { server, account, namespace, claim, volume } = fixture;
  const run: PodRun = { server, account, namespace, claim, volume, user: USER, document, inputs: {}, job, ...more };
  const child = spawn(process.execPath, [join(import.meta.dirname, "run-tool.ts"), JSON.stringify(run)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const ended = once(child, "close").then(() => {
    const lines = text.trimEnd().split("\n");
    const last = lines.at(-1) ?? "";
    return last.startsWith("{")
      ? { end: JSON.parse(last) as PodRunResult, log: lines.slice(0, -1).join("\n") }
      : { end: undefined, log: text };
  });
  return { child, ended };
}

const run = async (job: string, document: string, more: Partial<PodRun> = {}) => {
  const { end, log } = await start(job, document, more).ended;
  assert.ok(end, log);
  return { end, log };
};
/** Lines of a file among the outputs. */
function readOutput(end: PodRunResult | undefined, name: string): readonly string[] {
  const file = end?.outputs?.[name] as { readonly location: string } | undefined;
  assert.ok(file, `no output ${name}`);
  return readFileSync(fileURLToPath(file.location), "utf8").trim().split("\n");
}
const podsOf = async (job: string) =>
  (await fixture.pods()).filter(({ metadata }) => metadata.labels?.["swath.io/job"] === job);

test("a tool is a pod that reads its inputs, writes its outputs and is gone afterwards", { skip }, async () => {
  const document = toTool('wc -c; echo "to the log" >&2; id -u; cat /proc/1/environ | tr "\\0" "\\n" | grep ^PRICE', {
    requirements: {
      DockerRequirement: { dockerPull: IMAGE },
      EnvVarRequirement: { envDef: { PRICE: "$(HOME) $$ 5" } },
      InitialWorkDirRequirement: { listing: [{ entryname: "in.txt", entry: "eight by" }] },
    },
    stdin: "in.txt",
    stdout: "out.txt",
    outputs: { counted: { type: "File", outputBinding: { glob: "out.txt" } } },
  }).replace("$(HOME)", "\\\\$(HOME)");
  const { end, log } = await run("plain", document);
  assert.equal(end.message, undefined);
  assert.deepEqual(readOutput(end, "counted"), ["8", String(USER), "PRICE=$(HOME) $$ 5"]);
  assert.match(log, /to the log/);
  assert.deepEqual(await podsOf("plain"), []);
});

test("steps are pods of one job; a scatter runs side by side", { skip }, async () => {
  const inner = (id: string, script: string, inputs: object) => ({
    ...(JSON.parse(toTool(script, { inputs })) as object),
    id,
    cwlVersion: undefined,
    stdout: "out",
    outputs: { out: { type: "stdout" } },
  });
  const document = JSON.stringify({
    cwlVersion: "v1.2",
    $graph: [
      inner("say", 'echo "$0"', { word: { type: "string", inputBinding: {} } }),
      inner("join", 'cat "$@" </dev/null', { files: { type: "File[]", inputBinding: {} } }),
      {
        id: "main",
        class: "Workflow",
        requirements: { ScatterFeatureRequirement: {} },
        inputs: { words: "string[]" },
        steps: {
          say: { run: "#say", scatter: "word", in: { word: "words" }, out: ["out"] },
          join: { run: "#join", in: { files: "say/out" }, out: ["out"] },
        },
        outputs: { all: { type: "File", outputSource: "join/out" } },
      },
    ],
  });
  const { end } = await run("scatter", document, { inputs: { words: ["a", "b", "c"] } });
  assert.equal(end.message, undefined);
  // `sh -c` takes the first file for its own name.
  assert.deepEqual(readOutput(end, "all"), ["b", "c"]);
});

test("an exit code, its last words, and a command that is not there", { skip }, async () => {
  const failed = await run("fails", toTool("echo no bands in the image >&2; exit 3"));
  assert.equal(failed.end.exitCode, 3);
  assert.match(failed.end.message ?? "", /exit code 3; its last words:\nno bands in the image/);
  const missing = await run("missing", toTool("", { baseCommand: ["gdal_calc"] }));
  assert.match(missing.end.message ?? "", /"gdal_calc" was not found in its image/);
});

test("too much memory, too much time, no image, no room: each is told in words", { skip }, async () => {
  const greedy = toTool("tail /dev/zero", {}, { ResourceRequirement: { ramMin: 32 } });
  const slow = toTool("sleep 60", {}, { ToolTimeLimit: { timelimit: 2 } });
  const nameless = toTool("true", {}, { DockerRequirement: { dockerPull: "registry.invalid/none:1" } });
  const huge = toTool("true", {}, { ResourceRequirement: { coresMin: 5000 } });
  const timeouts = { room: 3, start: 3 };
  const [memory, time, image, room] = await Promise.all([
    run("memory", greedy),
    run("time", slow),
    run("image", nameless, { timeouts }),
    run("room", huge, { timeouts }),
  ]);
  assert.match(memory.end.message ?? "", /used more memory than its limit of 32 MiB.*ramMin/s);
  assert.match(time.end.message ?? "", /longer than its limit of 2 s/);
  assert.match(image.end.message ?? "", /registry\.invalid\/none:1 cannot be pulled: .*DockerRequirement/s);
  assert.match(
    room.end.message ?? "",
    /no room for it \(no node has enough free processor cores; it asks for 5000 cores/,
  );
  assert.match(room.log, /cluster: waiting for room/);
  for (const job of ["memory", "time", "image", "room"]) {
    assert.deepEqual(await podsOf(job), [], job);
  }
});

const untilBegun = (job: string) =>
  waitUntil(`the pod of ${job} runs`, async () => (await podsOf(job)).find((pod) => hasStarted(pod)));

test("cancelling ends the pod", { skip }, async () => {
  const { child, ended } = start("cancel", toTool("sleep 300"));
  await untilBegun("cancel");
  child.kill("SIGTERM");
  assert.equal((await ended).end?.code, "cancelled");
  assert.deepEqual(await podsOf("cancel"), []);
});

test("a pod outlives its service and is joined again, not run twice", { skip }, async () => {
  const document = toTool('echo begin; date +%s%N > stamp; while [ ! -e "$HOME/go" ]; do sleep 0.2; done; echo over', {
    outputs: { stamp: { type: "File", outputBinding: { glob: "stamp" } } },
  });
  const first = start("killed", document);
  const pod = await untilBegun("killed");
  first.child.kill("SIGKILL");
  await first.ended;
  // Twice, because the second one finds directories that the first one has put aside.
  for (const attempt of [1, 2]) {
    const again = start("killed", document);
    await waitUntil(`attempt ${attempt} has joined`, () => readLog(again).includes("joined the pod"));
    assert.deepEqual(
      (await podsOf("killed")).map(({ metadata }) => metadata.uid),
      [pod.metadata.uid],
    );
    if (attempt === 1) {
      again.child.kill("SIGKILL");
      await again.ended;
      continue;
    }
    await mustKubectl(["exec", "-n", fixture.namespace, pod.metadata.name, "--", "touch", "/var/spool/cwl/go"]);
    const { end, log } = await again.ended;
    assert.equal(end?.message, undefined);
    assert.match(log, /begin[\s\S]*over/);
    assert.equal(readOutput(end, "stamp").length, 1);
  }
  assert.deepEqual(await podsOf("killed"), []);
});

const logs = new WeakMap<ChildProcess, () => string>();
function readLog({ child }: Running): string {
  let read = logs.get(child);
  if (read === undefined) {
    let text = "";
    child.stdout?.on("data", (piece: string) => (text += piece));
    read = () => text;
    logs.set(child, read);
  }
  return read();
}
