// A container that updates a directory of another step in place, and what it may leave there.
import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
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
import type { Executor, JobSpec } from "../executors/executor.ts";
import { loadDocument } from "../load/load.ts";
import { toJson } from "../model/values.ts";
import { runProcess } from "./run-process.ts";

const SECRET = "the-secret-of-the-host";
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-in-place-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
const secret = join(scratch, "secret.txt");
writeFileSync(secret, SECRET);

/** Step a makes a directory with a file in it, b updates the directory, c has the file as a says it is. */
const text = (use: string, plant = "plant"): string => `cwlVersion: v1.2
class: Workflow
requirements: {InlineJavascriptRequirement: {}, InplaceUpdateRequirement: {inplaceUpdate: true}, StepInputExpressionRequirement: {}}
hints: {DockerRequirement: {dockerPull: any}}
inputs: []
outputs: {o: {type: Any, outputSource: c/out}}
steps:
  a:
    in: []
    out: [d, x]
    run:
      class: CommandLineTool
      baseCommand: make
      inputs: []
      outputs: {d: {type: Directory, outputBinding: {glob: d}}, x: {type: File, outputBinding: {glob: d/x}}}
  b:
    in: {d: a/d}
    out: [d]
    run:
      class: CommandLineTool
      requirements: {InitialWorkDirRequirement: {listing: [{entryname: d, entry: $(inputs.d), writable: true}]}}
      baseCommand: ${plant}
      inputs: {d: Directory}
      outputs: {d: {type: Directory, outputBinding: {glob: d}}}
  ${use}`;
const reads = `c:
    in: {x: a/x}
    out: [out]
    run: {class: CommandLineTool, baseCommand: read, inputs: {x: File}, outputs: {out: stdout}}`;
const loads = `c:
    in: {x: {source: a/x, loadContents: true}, d: b/d}
    out: [out]
    run: {class: ExpressionTool, inputs: {x: File, d: Directory}, outputs: {out: string}, expression: '$({out: inputs.x.contents})'}`;

/** Does what its commands say with what is mounted, as a container would, and notes which of them overlap. */
function makeExecutor(): { readonly executor: Executor; readonly overlaps: string[] } {
  const running = new Set<string>();
  const overlaps: string[] = [];
  const work = async (job: JobSpec): Promise<void> => {
    const [command = ""] = job.command;
    running.forEach((other) => overlaps.push([other, command].toSorted().join(" ")));
    running.add(command);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const [mount] = job.mounts;
    if (command === "make") {
      mkdirSync(join(job.outdir.host, "d"));
      writeFileSync(join(job.outdir.host, "d", "x"), "made");
    } else if (command === "read") {
      writeFileSync(job.stdout ?? "", readFileSync(mount?.source ?? ""));
    } else {
      const source = mount?.source ?? "";
      rmSync(join(source, "x"));
      if (command === "update") {
        writeFileSync(join(source, "y"), "updated");
        symlinkSync("y", join(source, "x"));
      } else {
        symlinkSync(secret, join(source, "x"));
      }
    }
    running.delete(command);
  };
  const executor: Executor = {
    kind: "test",
    sharesFileSystem: false,
    run: async (job) => {
      await work(job);
      return { exitCode: 0, logTail: "", timedOut: false, usage: { wallSeconds: 0 } };
    },
  };
  return { executor, overlaps };
}

async function told(document: string): Promise<{ readonly text: string; readonly overlaps: readonly string[] }> {
  const { executor, overlaps } = makeExecutor();
  const outDir = mkdtempSync(join(scratch, "out-"));
  try {
    const outputs = await runProcess({
      document: await loadDocument(`file://${scratch}/doc.cwl`, { text: document }),
      inputs: {},
      outDir,
      workDir: join(scratch, "work"),
      executors: { container: executor },
      onError: "continue",
    });
    const { location = "" } = (outputs["o"] ?? {}) as { readonly location?: string };
    const content = location === "" ? "" : readFileSync(new URL(location), "utf8");
    return { text: toJson(outputs) + content, overlaps };
  } catch (error) {
    assert.ok(error instanceof CwlError, String(error));
    assert.ok(!existsSync(join(outDir, "x")));
    return { text: `failed: ${error.message} ${toJson(error.outputs ?? {})}`, overlaps };
  }
}

for (const [name, use] of Object.entries({ "a tool reads": reads, "an expression reads": loads })) {
  test(`a link that a container puts in the place of another step's file leads nowhere: ${name}`, async () => {
    for (let round = 0; round < 5; round += 1) {
      const result = await told(text(use));
      assert.ok(!result.text.includes(SECRET), result.text);
      // Refused where the container ends, and again where the next step gets the file: either is told.
      assert.match(result.text, /failed: .*x (?:leads to .*secret\.txt, which is outside|is no file of this job)/s);
      assert.deepEqual(result.overlaps, []);
    }
  });
}

test("a job that updates files in place has them alone, and what it links inside them is a file for the next step", async () => {
  const result = await told(text(loads, "update"));
  assert.match(result.text, /updated/);
  assert.deepEqual(result.overlaps, []);
});
