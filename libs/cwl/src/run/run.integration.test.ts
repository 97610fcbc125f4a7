// Real runs on this machine: results, attacks, cancellation, reuse, and that nothing is left behind.
import assert from "node:assert/strict";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { CwlError } from "../errors.ts";
import type { RunEvent } from "../events.ts";
import { loadDocument } from "../load/load.ts";
import type { FileValue, ValueObject } from "../model/values.ts";
import { packDocument } from "../pack/pack.ts";
import { runProcess } from "./run-process.ts";
import type { RunOptions } from "./run-options.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-test-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
let counter = 0;

async function run(text: string, inputs: object = {}, more: Partial<RunOptions> = {}): Promise<ValueObject> {
  const document = await loadDocument("https://example.org/doc.cwl", { text });
  counter += 1;
  const workDir = join(scratch, `work-${counter}`);
  try {
    return await runProcess({
      document,
      inputs: { ...inputs },
      outDir: join(scratch, `out-${counter}`),
      workDir,
      ...more,
    });
  } finally {
    assert.deepEqual(readdirSync(workDir), [], "scratch space is left behind");
    assert.deepEqual(leftOver(workDir), [], "processes are left behind");
  }
}

/** Processes of tools that ran in a directory. */
function leftOver(directory: string, variable = "HOME"): string[] {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) {
      return false;
    }
    try {
      const environment = readFileSync(`/proc/${name}/environ`, "latin1");
      return environment.includes(`${variable}=${directory}`);
    } catch {
      return false;
    }
  });
}

function tool(command: string, more = ""): string {
  return `cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: [sh, -c, ${JSON.stringify(command)}]\ninputs: {}\n${more}\n`;
}

function contentOf(value: unknown): string {
  return readFileSync(new URL((value as FileValue).location ?? ""), "utf8");
}

test("events come in order, and percent never falls", async () => {
  const events: RunEvent[] = [];
  const outputs = await run(scatterWorkflow, { items: ["a", "b", "c"] }, { onEvent: (event) => events.push(event) });
  assert.deepEqual((outputs["out"] as readonly FileValue[]).map(contentOf), ["a\n", "b\n", "c\n"]);
  assert.deepEqual(
    events.map((event) => event.sequence),
    events.map((_, index) => index + 1),
  );
  const percents = events.flatMap((event) => (event.type === "progress" ? [event.percent] : []));
  assert.deepEqual(
    percents,
    percents.toSorted((a, b) => a - b),
  );
  assert.equal(percents.at(-1), 100);
  assert.equal(events[0]?.type, "run-started");
  assert.equal(events.at(-1)?.type, "run-finished");
  assert.equal(events.filter((event) => event.type === "step-finished").length, 3);
});

const scatterWorkflow = `cwlVersion: v1.2
class: Workflow
requirements: {ScatterFeatureRequirement: {}, InlineJavascriptRequirement: {}}
inputs: {items: "string[]"}
outputs: {out: {type: "File[]", outputSource: echo/out}}
steps:
  echo:
    scatter: text
    in: {text: items}
    out: [out]
    run:
      class: CommandLineTool
      baseCommand: echo
      inputs: {text: {type: string, inputBinding: {}}}
      outputs: {out: {type: stdout}}
      stdout: $(inputs.text.length).txt
`;

test("packing then running equals running, however many jobs run at once", async () => {
  const items = Array.from({ length: 20 }, (_, index) => "x".repeat(index + 1));
  const texts = async (text: string, cores: number): Promise<string[]> => {
    const outputs = await run(text, { items }, { limits: { cores, ramMiB: 65_536 } });
    return (outputs["out"] as readonly FileValue[]).map((file) => `${file.basename} ${contentOf(file)}`);
  };
  const one = await texts(scatterWorkflow, 1);
  const packed = JSON.stringify(
    await packDocument(await loadDocument("https://example.org/doc.cwl", { text: scatterWorkflow })),
  );
  assert.deepEqual(await texts(scatterWorkflow, 8), one);
  assert.deepEqual(await texts(packed, 3), one);
});

test("a tool that fails says with which code and its last words", async () => {
  await assert.rejects(run(tool("echo why >&2; exit 3", "outputs: {}")), (error: unknown) => {
    assert.ok(error instanceof CwlError);
    assert.equal(error.exitCode, 3);
    assert.match(error.message, /exit code 3.*\nwhy/s);
    return true;
  });
});

test("nothing leaves the working directory", async () => {
  const attacks: readonly [string, RegExp][] = [
    [tool("true", "outputs: {o: {type: File, outputBinding: {glob: ../*}}}"), /leads out/],
    [tool("true", "outputs: {o: {type: File, outputBinding: {glob: /etc/passwd}}}"), /outside the working directory/],
    [
      tool("ln -s /etc/passwd o", "outputs: {o: {type: File, outputBinding: {glob: o}}}"),
      /outside the working directory/,
    ],
    [
      tool("ln -s /etc d", "outputs: {o: {type: File, outputBinding: {glob: d/passwd}}}"),
      /outside the working directory/,
    ],
    [
      tool("mkdir d; ln -s /etc d/e", "outputs: {o: {type: Directory, outputBinding: {glob: d}}}"),
      /outside the working directory/,
    ],
    [tool("ln -s o o", "outputs: {o: {type: File, outputBinding: {glob: o}}}"), /circle of symbolic links/],
    [
      tool(`echo '{"o": {"class": "File", "path": "/etc/passwd"}}' > cwl.output.json`, "outputs: {o: File}"),
      /outside the working directory/,
    ],
    [tool("true", "stdout: ../x\noutputs: {}"), /inside the working directory/],
    [
      tool(
        "true",
        "outputs: {}\nrequirements: {InitialWorkDirRequirement: {listing: [{entryname: ../../x, entry: x}]}}",
      ),
      /leads out of the working directory/,
    ],
    [
      tool(
        "true",
        "outputs: {}\nrequirements: {InitialWorkDirRequirement: {listing: [{entryname: /tmp/x, entry: x}]}}",
      ),
      /absolute/,
    ],
  ];
  for (const [text, message] of attacks) {
    await assert.rejects(run(text), message, text);
  }
});

test("a staged link is not written through", async () => {
  const victim = join(scratch, "victim");
  mkdirSync(victim);
  const text = tool(
    "true",
    `outputs: {}
requirements:
  InitialWorkDirRequirement:
    listing:
      - {entryname: in, entry: $(inputs.d)}
      - {entryname: in/evil, entry: x}`,
  ).replace("inputs: {}", "inputs: {d: Directory}");
  await assert.rejects(run(text, { d: { class: "Directory", path: victim } }), /inside an input directory/);
  assert.deepEqual(readdirSync(victim), []);
});

test("inputs outside the allowed directories are refused, through links too", async () => {
  const allowed = join(scratch, "allowed");
  mkdirSync(allowed);
  writeFileSync(join(allowed, "fine"), "fine");
  symlinkSync("/etc/passwd", join(allowed, "link"));
  const text =
    "cwlVersion: v1.2\nclass: CommandLineTool\nbaseCommand: cat\ninputs: {f: {type: File, inputBinding: {}}}\noutputs: {o: stdout}\n";
  const file = (path: string): object => ({ f: { class: "File", path } });
  assert.equal(contentOf((await run(text, file(join(allowed, "fine")), { inputRoots: [allowed] }))["o"]), "fine");
  await assert.rejects(run(text, file("/etc/passwd"), { inputRoots: [allowed] }), /outside the directories/);
  await assert.rejects(run(text, file(join(allowed, "link")), { inputRoots: [allowed] }), /outside the directories/);
});

test("an input whose directory lies behind a link is an input all the same", async () => {
  const real = join(scratch, "real");
  mkdirSync(real);
  writeFileSync(join(real, "list.txt"), "one");
  symlinkSync(real, join(scratch, "alias"));
  const text = `cwlVersion: v1.2
class: CommandLineTool
requirements: {InitialWorkDirRequirement: {listing: [$(inputs.f)]}}
baseCommand: "true"
inputs: {f: File}
outputs: {o: {type: File, outputBinding: {glob: list.txt}}}
`;
  const outputs = await run(text, { f: { class: "File", path: join(scratch, "alias/list.txt") } });
  assert.equal(contentOf(outputs["o"]), "one");
});

test("strange file names are only names", async () => {
  const name = "a b\n;$(touch pwned)'\"`*.txt";
  writeFileSync(join(scratch, name), "content");
  const text = `cwlVersion: v1.2
class: CommandLineTool
requirements: {ShellCommandRequirement: {}}
baseCommand: cat
inputs: {f: {type: File, inputBinding: {}}}
outputs: {o: stdout, all: {type: "File[]", outputBinding: {glob: "*pwned*"}}}
`;
  const outputs = await run(text, { f: { class: "File", path: join(scratch, name) } });
  assert.equal(contentOf(outputs["o"]), "content");
  assert.deepEqual(outputs["all"], []);
  await assert.rejects(
    run(text, { f: { class: "File", path: join(scratch, name), basename: "../x" } }),
    /cannot be the basename/,
  );
});

const stubborn =
  "trap '' TERM INT HUP; (trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 1; done' &) ; while :; do sleep 1; done";

test("cancelling ends a tool that forks, starts sessions and ignores signals", async () => {
  const stop = new AbortController();
  let started = 0;
  const running = run(
    tool(stubborn, "outputs: {}"),
    {},
    {
      signal: stop.signal,
      onEvent: (event) => {
        if (event.type === "step-started") {
          started = performance.now();
          setTimeout(() => stop.abort(), 300);
        }
      },
    },
  );
  await assert.rejects(running, (error: unknown) => error instanceof CwlError && error.code === "cancelled");
  assert.ok(started > 0);
});

test("a time limit ends the whole tree", async () => {
  await assert.rejects(
    run(tool(stubborn, "outputs: {}\nrequirements: {ToolTimeLimit: {timelimit: 1}}")),
    /limit of 1 s/,
  );
});

test("what a tool leaves running in the background is ended", async () => {
  await run(tool("setsid sleep 60 & sleep 60 & exit 0", "outputs: {}"));
});

test("nothing of this engine is in the environment of a tool, and one that sets its own HOME is found all the same", async () => {
  const text = tool("env", "outputs: {out: stdout}");
  const shown = contentOf((await run(text))["out"]);
  const names = shown.trim().replaceAll(/=.*/g, "").split("\n");
  const ofTheShell = new Set(["_", "SHLVL", "OLDPWD", "PWD"]);
  assert.deepEqual(new Set(names.filter((name) => !ofTheShell.has(name))), new Set(["HOME", "TMPDIR", "PATH"]));
  const elsewhere = "HOME=/ TMPDIR=/ setsid sleep 60 & (cd / && HOME=/ setsid sleep 60 &) ; exit 0";
  const own = `outputs: {}\nrequirements: {EnvVarRequirement: {envDef: {HOME: /, TMPDIR: /, OF_TEST: "${scratch}"}}}`;
  await run(tool(elsewhere, own));
  assert.deepEqual(leftOver(scratch, "OF_TEST"), []);
});

test("one failing step stops the others", async () => {
  const text = `cwlVersion: v1.2
class: Workflow
inputs: []
outputs: []
steps:
  slow: {in: [], out: [], run: {class: CommandLineTool, baseCommand: [sleep, "60"], inputs: [], outputs: []}}
  bad: {in: [], out: [], run: {class: CommandLineTool, baseCommand: ["false"], inputs: [], outputs: []}}
`;
  await assert.rejects(
    run(text),
    (error: unknown) => error instanceof CwlError && error.step === "bad" && error.exitCode === 1,
  );
});

test("work is reused when it is the same, and only then", async () => {
  const cacheDir = join(scratch, "cache");
  const reused = async (inputs: object, text = scatterWorkflow): Promise<boolean[]> => {
    const events: RunEvent[] = [];
    await run(text, inputs, { cacheDir, onEvent: (event) => events.push(event) });
    return events.flatMap((event) => (event.type === "step-finished" ? [event.reused] : []));
  };
  assert.deepEqual(await reused({ items: ["p"] }), [false]);
  assert.deepEqual(await reused({ items: ["p"] }), [true]);
  assert.deepEqual(await reused({ items: ["q"] }), [false]);
  const never = scatterWorkflow.replace(
    "InlineJavascriptRequirement: {}",
    "InlineJavascriptRequirement: {}, WorkReuse: {enableReuse: false}",
  );
  assert.deepEqual(await reused({ items: ["p"] }, never), [false]);
});

test("a container that is required and missing is said, a hint falls back only when allowed", async () => {
  const required = tool("true", "outputs: {}\nrequirements: {DockerRequirement: {dockerPull: x}}");
  const hinted = tool("true", "outputs: {}\nhints: {DockerRequirement: {dockerPull: x}}");
  await assert.rejects(run(required, {}, { hostFallback: true }), /requires the container x/);
  await assert.rejects(run(hinted), /was not allowed/);
  await run(hinted, {}, { hostFallback: true });
});

test("a job that can never fit is refused when the capacity is given", async () => {
  const text = tool("true", "outputs: {}\nrequirements: {ResourceRequirement: {coresMin: 64}}");
  await assert.rejects(run(text, {}, { limits: { cores: 2 } }), /asks for 64 cores/);
});

test("secret inputs reach the tool, but no event", async () => {
  const events: RunEvent[] = [];
  const text = `cwlVersion: v1.2
$namespaces: {cwltool: "http://commonwl.org/cwltool#"}
class: CommandLineTool
hints: {"cwltool:Secrets": {secrets: [password]}}
baseCommand: [sh, -c, 'echo "got $0" >&2; printf %s "$0" > out; exit 0']
inputs: {password: {type: string, inputBinding: {}}}
outputs: {out: {type: File, outputBinding: {glob: out}}}
`;
  const outputs = await run(text, { password: "opensesame" }, { onEvent: (event) => events.push(event) });
  assert.equal(contentOf(outputs["out"]), "opensesame");
  assert.doesNotMatch(JSON.stringify(events), /opensesame/);
  assert.match(JSON.stringify(events), /got \(secret\)/);
  const inPieces = text.replace(
    'echo "got $0" >&2',
    'echo -n opense >&2; sleep 0.2; echo same of "$0" >&2; echo $CALLER >&2',
  );
  events.length = 0;
  const failing = run(
    inPieces
      .replace("exit 0", "exit 4")
      .replace("outputs:", "requirements: {EnvVarRequirement: {envDef: {CALLER: from-the-caller}}}\noutputs:"),
    { password: "opensesame" },
    { onEvent: (event) => events.push(event), secrets: ["from-the-caller"] },
  );
  await assert.rejects(failing, (error: unknown) => {
    assert.ok(error instanceof CwlError);
    assert.match(error.message, /\(secret\) of \(secret\)\n\(secret\)/);
    assert.doesNotMatch(`${error.message} ${error.logTail} ${JSON.stringify(error.problems)}`, /opensesame|from-the/);
    return true;
  });
  assert.doesNotMatch(JSON.stringify(events), /opensesame|from-the-caller/);
  assert.match(
    events.map((event) => (event.type === "step-log" ? event.text : "")).join(""),
    /^\(secret\) of \(secret\)$/m,
  );
});
