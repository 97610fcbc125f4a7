// Values that name a file which the run was not given, at every place where the model has a File: nothing of it comes out.
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
import { loadDocument } from "../load/load.ts";
import { toJson } from "../model/values.ts";
import { resolveInputs } from "./job-inputs.ts";
import { runProcess } from "./run-process.ts";

const SECRET = "the-secret-of-the-host";
const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-gate-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
const host = join(scratch, "host");
const inputs = join(scratch, "in");
mkdirSync(join(host, "deep"), { recursive: true });
mkdirSync(join(inputs, "folder"), { recursive: true });
writeFileSync(join(host, "secrets.json"), SECRET);
writeFileSync(join(host, "deep", "more.txt"), SECRET);
writeFileSync(join(inputs, "given.txt"), "given");
writeFileSync(join(inputs, "folder", "inner.txt"), "inner");
symlinkSync(join(host, "secrets.json"), join(inputs, "given.txt.idx"));
symlinkSync(host, join(inputs, "folder", "link"));

type Json = null | string | number | Json[] | { [key: string]: Json };

/** Numbers from 0 to below 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

/** Ways to write the path of something on this machine. */
const spellings: readonly ((path: string) => { [key: string]: Json })[] = [
  (path) => ({ location: `file://${path}` }),
  (path) => ({ location: `FILE://${path}` }),
  (path) => ({ location: `file:${path}` }),
  (path) => ({ location: `file://localhost${path}` }),
  (path) => ({ location: `file://${path.replace("secrets", "%73ecrets")}` }),
  (path) => ({ location: path }),
  (path) => ({ path }),
  (path) => ({ path: `file://${path}` }),
  (path) => ({ location: `file://${inputs}/folder/../..${path.slice(scratch.length)}` }),
  (path) => ({ path: `${inputs}/folder/../..${path.slice(scratch.length)}` }),
  (path) => ({ path: `${inputs}/folder/link${path.slice(host.length)}` }),
  (path) => ({ location: `file://${inputs}/given.txt/../../host${path.slice(host.length)}` }),
  (path) => ({ location: `../../../../../../../../..${path}` }),
  (path) => ({ path: `../../../../../../../../..${path}`, location: "_:x", contents: "x" }),
  (path) => ({ location: "file:///dev/null", path }),
];

/** A File or Directory that leads to the secret somehow. */
function hostile(random: () => number, depth = 0): { [key: string]: Json } {
  const inner = (): Json => hostile(random, depth + 1);
  switch (depth > 2 ? 0 : Math.floor(random() * 6)) {
    case 3:
      return { class: "File", basename: "a.txt", contents: "a", secondaryFiles: [inner()] };
    case 4:
      return { class: "Directory", basename: "d", listing: [inner()] };
    case 5:
      return { class: "File", location: `file://${inputs}/given.txt`, secondaryFiles: [inner()] };
    default: {
      const isFile = random() < 0.7;
      const more = random() < 0.3 ? { basename: "b.txt" } : {};
      const location = pick(random, spellings)(isFile ? join(host, "secrets.json") : join(host, "deep"));
      return { class: isFile ? "File" : "Directory", ...more, ...location };
    }
  }
}

const js = "requirements: {InlineJavascriptRequirement: {}}";
const returns = (value: Json): string => JSON.stringify(`\${return ${JSON.stringify(value)};}`);
/** Prints every file that its input holds. */
const cat = `class: CommandLineTool
      inputs: {f: {type: Any}}
      outputs: {out: stdout}
      arguments: [find, -L, ".", {valueFrom: "$(inputs.f.path)"}, -type, f, -exec, cat, "{}", +]`;
const step = (more: string, run: string): string => `cwlVersion: v1.2
class: Workflow
requirements: {InlineJavascriptRequirement: {}, StepInputExpressionRequirement: {}}
inputs: {given: File, folder: Directory}
outputs: {out: {type: Any, outputSource: s/out}}
steps:
  s:
    ${more}
    out: [out]
    run:
      ${run}`;
const tool = (more: string): string => `cwlVersion: v1.2
class: CommandLineTool
${more}`;
const both = "inputs: {given: File, folder: Directory}";

/** Each makes a document with the value at one place; `caller` where the caller or the document names it, not code. */
const places: { readonly [name: string]: { readonly caller?: true; readonly text: (value: Json) => string } } = {
  "output of an ExpressionTool": {
    text: (value) => `cwlVersion: v1.2\nclass: ExpressionTool\n${js}\n${both}\noutputs: {out: Any}
expression: ${returns({ out: value })}`,
  },
  "deep in the output of an ExpressionTool": {
    text: (value) => `cwlVersion: v1.2\nclass: ExpressionTool\n${js}\n${both}\noutputs: {out: Any}
expression: ${returns({ out: { a: [{ b: value }] } })}`,
  },
  outputEval: {
    text: (value) =>
      tool(`${js}\n${both}\nbaseCommand: "true"
outputs: {out: {type: Any, outputBinding: {outputEval: ${returns(value)}}}}`),
  },
  "cwl.output.json": {
    text: (value) =>
      tool(`${both}\nbaseCommand: [sh, -c, ${JSON.stringify(`printf %s '${JSON.stringify({ out: value })}' > cwl.output.json`)}]
outputs: {out: Any}`),
  },
  "secondaryFiles expression of an output": {
    text: (value) =>
      tool(`${js}\n${both}\nbaseCommand: [touch, a.txt]
outputs: {out: {type: File, secondaryFiles: [${returns(value)}], outputBinding: {glob: a.txt}}}`),
  },
  "secondaryFiles expression of an output that is an input": {
    text: (value) =>
      tool(`${js}\n${both}\nbaseCommand: [touch, a.txt]
outputs: {out: {type: File, secondaryFiles: [${returns(value)}], outputBinding: {outputEval: $(inputs.given)}}}`),
  },
  "secondaryFiles expression of an input": {
    text: (value) =>
      tool(`${js}\ninputs: {given: {type: File, secondaryFiles: [${returns(value)}]}, folder: Directory}
arguments: [sh, -c, 'cat "$@"', sh, '$(inputs.given.secondaryFiles[0].path)']
outputs: {out: stdout}`),
  },
  "valueFrom of a step": { text: (value) => step(`in: {f: {valueFrom: ${returns(value)}}}`, cat) },
  "output of an ExpressionTool that a tool reads": {
    text: (value) => `cwlVersion: v1.2
class: Workflow
requirements: {InlineJavascriptRequirement: {}}
inputs: {given: File, folder: Directory}
outputs: {out: {type: Any, outputSource: s/out}}
steps:
  e: {in: [], out: [out], run: {class: ExpressionTool, inputs: [], outputs: {out: Any}, expression: ${returns({ out: value })}}}
  s:
    in: {f: e/out}
    out: [out]
    run:
      ${cat}`,
  },
  "contents of the default of a step input": {
    caller: true,
    text: (value) =>
      step(
        `in: {f: {default: ${JSON.stringify(value)}, loadContents: true, valueFrom: '$(self.contents)'}}`,
        `{class: ExpressionTool, inputs: {f: Any}, outputs: {out: Any}, expression: '$({out: inputs.f})'}`,
      ),
  },
  "default of a step input": {
    caller: true,
    text: (value) => step(`in: {f: {default: ${JSON.stringify(value)}}}`, cat),
  },
  "default of a tool's input": {
    caller: true,
    text: (value) => step(`in: []`, cat.replace("{type: Any}", `{type: Any, default: ${JSON.stringify(value)}}`)),
  },
  "literal of InitialWorkDirRequirement": {
    caller: true,
    text: (value) =>
      tool(`requirements: {InitialWorkDirRequirement: {listing: [${JSON.stringify(value)}]}}
${both}\nbaseCommand: [find, -L, ., -type, f, "!", -name, printed, -exec, cat, "{}", +]\nstdout: printed\noutputs: {out: stdout}`),
  },
  "expression of InitialWorkDirRequirement": {
    text: (value) =>
      tool(`requirements: {InlineJavascriptRequirement: {}, InitialWorkDirRequirement: {listing: ${returns([value])}}}
${both}\nbaseCommand: [find, -L, ., -type, f, "!", -name, printed, -exec, cat, "{}", +]\nstdout: printed\noutputs: {out: stdout}`),
  },
  "Dirent of InitialWorkDirRequirement": {
    text: (value) =>
      tool(`requirements: {InlineJavascriptRequirement: {}, InitialWorkDirRequirement: {listing: [{entryname: x, entry: ${returns(value)}, writable: true}]}}
${both}\nbaseCommand: [find, -L, ., -type, f, "!", -name, printed, -exec, cat, "{}", +]\nstdout: printed\noutputs: {out: stdout}`),
  },
  "the job object": {
    caller: true,
    text: () =>
      tool(`inputs: {f: {type: Any}, given: File, folder: Directory}
outputs: {out: stdout}\narguments: [find, -L, $(inputs.f.path), -type, f, -exec, cat, "{}", +]`),
  },
};

let counter = 0;

/** Everything that a run gives to whoever started it: the output object, published files, the error. */
async function outcome(
  text: string,
  more: object,
  job: object,
): Promise<{ readonly told: string; readonly failed: boolean }> {
  counter += 1;
  const outDir = join(scratch, `out-${counter}`);
  let told = "";
  let failed = false;
  try {
    const outputs = await runProcess({
      document: await loadDocument(`file://${inputs}/doc.cwl`, { text }),
      inputs: {
        given: { class: "File", location: `file://${inputs}/given.txt` },
        folder: { class: "Directory", location: `file://${inputs}/folder` },
        ...job,
      },
      outDir,
      workDir: join(scratch, `work-${counter}`),
      ...more,
    });
    told += toJson(outputs);
    assert.doesNotMatch(
      told,
      /"location":"(?!_:|file:\/\/[^"]*\/out-\d+\/)/i,
      "an output lies outside the output directory",
    );
  } catch (error) {
    assert.ok(error instanceof CwlError, `not a CwlError: ${String(error)}`);
    assert.notEqual(error.code, "invalid-document", error.message);
    told += error.message + (error.logTail ?? "");
    failed = true;
  }
  told += bytesBelow(outDir);
  rmSync(outDir, { recursive: true, force: true });
  return { told, failed };
}

function bytesBelow(folder: string): string {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => {
        const path = join(folder, entry.name);
        return entry.isDirectory() ? bytesBelow(path) : readFileSync(path, "utf8");
      })
      .join("\n");
  } catch {
    return "";
  }
}

const asJob = (value: Json): object => ({ f: value });

for (const [name, { text, caller }] of Object.entries(places)) {
  test(`a run with roots gives away nothing of the host: ${name}`, async () => {
    const random = randomFrom(name.length);
    for (let round = 0; round < 24; round += 1) {
      const value = hostile(random);
      const job = name === "the job object" ? asJob(value) : {};
      const { told } = await outcome(text(value), { inputRoots: [inputs] }, job);
      assert.ok(!told.includes(SECRET), `${JSON.stringify(value)} gave: ${told}`);
    }
  });
  if (caller === undefined) {
    test(`code names nothing but what a run was given, roots or not: ${name}`, async () => {
      const random = randomFrom(name.length + 100);
      for (let round = 0; round < 12; round += 1) {
        // A folder of the caller's may hold links to elsewhere, and without roots those are the caller's own.
        const value = hostile(random);
        if (!JSON.stringify(value).includes("/link")) {
          const { told } = await outcome(text(value), {}, {});
          assert.ok(!told.includes(SECRET), `${JSON.stringify(value)} gave: ${told}`);
        }
      }
    });
  }
}

test("what a run was given may be named: the same places with an input", async () => {
  const provided = { class: "File", location: `file://${inputs}/given.txt` };
  for (const [name, { text }] of Object.entries(places)) {
    const job = name === "the job object" ? asJob(provided) : {};
    const { told, failed } = await outcome(text(provided), { inputRoots: [inputs] }, job);
    assert.ok(!failed && told.includes("given"), `${name}: ${told}`);
  }
});

const planted: { readonly [name: string]: string } = {
  "a link beside an output": `outputs: {out: {type: File, secondaryFiles: [.idx], outputBinding: {glob: a.txt}}}`,
  "a link that is an output": `outputs: {out: {type: File, outputBinding: {glob: a.txt.idx}}}`,
  "a link in a directory": `outputs: {out: {type: Directory, outputBinding: {glob: .}}}`,
  "a glob through a link": `outputs: {out: {type: "File[]", outputBinding: {glob: dir/*}}}`,
  "contents of a link": `outputs: {out: {type: string, outputBinding: {glob: a.txt.idx, loadContents: true, outputEval: "$(self[0].contents)"}}}`,
};
for (const [name, outputs] of Object.entries(planted)) {
  test(`links that a tool plants lead nowhere: ${name}`, async () => {
    const command = `touch a.txt; ln -s ${host}/secrets.json a.txt.idx; ln -s ${host} dir`;
    const { told } = await outcome(tool(`inputs: []\nbaseCommand: [sh, -c, "${command}"]\n${outputs}`), {}, {});
    assert.ok(!told.includes(SECRET), told);
  });
}

test("a link beside an input is followed where its target may be read, and not otherwise", async () => {
  const text = tool(`inputs: {given: {type: File, secondaryFiles: [.idx]}}
arguments: [cat, '$(inputs.given.secondaryFiles[0].path)']\noutputs: {out: stdout}`);
  const guarded = await outcome(text, { inputRoots: [inputs] }, {});
  assert.ok(guarded.failed && !guarded.told.includes(SECRET));
  const free = await outcome(text, {}, {});
  assert.ok(free.told.includes(SECRET), free.told);
});

test("expressions may name files in the directories that the caller allows", async () => {
  const value = { class: "File", path: join(host, "secrets.json") };
  const text = places["output of an ExpressionTool"]?.text(value) ?? "";
  assert.ok((await outcome(text, {}, {})).failed);
  assert.ok((await outcome(text, { allowedPaths: [host] }, {})).told.includes(SECRET));
});

test("locations of Arvados Keep are refused in words, whoever names them; a file may have such a name", async () => {
  const location = "keep:4d8a70b1e63b2aad6984e40e338e2373+69/scene.tif";
  const file = JSON.stringify({ class: "File", location });
  const cat = "class: CommandLineTool\nbaseCommand: cat\noutputs: {out: stdout}\n";
  const tool = `${cat}inputs: {f: {type: File, inputBinding: {}}}`;
  const cases: readonly (readonly [text: string, inputs: object])[] = [
    [tool, { f: { class: "File", location } }],
    [tool, { f: { class: "File", path: location } }],
    [`${cat}inputs: {f: {type: File, default: ${file}}}`, {}],
    [
      `class: ExpressionTool\nrequirements: {InlineJavascriptRequirement: {}}\ninputs: {}\noutputs: {f: File}\nexpression: '\${return {f: ${file}};}'`,
      {},
    ],
  ];
  const load = async (text: string): ReturnType<typeof loadDocument> =>
    await loadDocument(`file://${inputs}/keep.cwl`, { text: `cwlVersion: v1.2\n${text}\n` });
  for (const [index, [text, values]] of cases.entries()) {
    const run = runProcess({
      document: await load(text),
      inputs: resolveInputs(values as { readonly [name: string]: unknown }, await load(text), `file://${inputs}/`),
      outDir: join(scratch, `keep-${index}`),
    });
    await assert.rejects(run, (error: unknown) => {
      assert.ok(error instanceof CwlError && error.code === "unsupported", String(error));
      assert.match(error.message, /keep:4d8a\S+ lies in Arvados Keep, which is not read here; download it/);
      return true;
    });
  }
  await assert.rejects(loadDocument(`${location}#main`), /lies in Arvados Keep/);
  writeFileSync(join(inputs, "keep:notes.txt"), "notes");
  const document = await load(tool);
  const values = resolveInputs({ f: { class: "File", location: "keep:notes.txt" } }, document, `file://${inputs}/`);
  const { out } = await runProcess({ document, inputs: values, outDir: join(scratch, "keep-notes") });
  assert.equal((out as { size?: number }).size, 5);
});
