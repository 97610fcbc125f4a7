import assert from "node:assert/strict";
import { test } from "node:test";
import { CwlError, formatProblem } from "../errors.ts";
import { graphOf } from "../graph.ts";
import { describeProcess } from "../describe.ts";
import { packDocument } from "../pack/pack.ts";
import { validateDocument } from "../validate/validate.ts";
import { loadDocument } from "./load.ts";
import { parseYaml } from "./yaml.ts";

const uri = "https://example.org/app.cwl";

const workflow = `cwlVersion: v1.2
$graph:
- class: Workflow
  id: main
  label: Crop
  inputs:
    scene: {type: Directory, label: Scene}
    size: {type: int?, default: 3}
  outputs:
    out: {type: File, outputSource: crop/out}
  steps:
    crop:
      run: '#crop'
      in: {scene: scene, size: size}
      out: [out]
- class: CommandLineTool
  id: crop
  baseCommand: crop
  hints: {DockerRequirement: {dockerPull: example/crop:1}}
  inputs: {scene: Directory, size: int?}
  outputs: {out: stdout}
  stdout: out.txt
`;

test("a document is described and drawn", async () => {
  const document = await loadDocument(uri, { text: workflow });
  const description = describeProcess(document);
  assert.equal(description.label, "Crop");
  assert.deepEqual(
    description.inputs.map(({ name, typeText, required, default: value }) => ({ name, typeText, required, value })),
    [
      { name: "scene", typeText: "Directory", required: true, value: undefined },
      { name: "size", typeText: "int?", required: false, value: 3 },
    ],
  );
  assert.deepEqual(description.images, ["example/crop:1"]);
  const graph = graphOf(document);
  assert.deepEqual(
    graph.nodes.map((node) => node.id),
    ["in:scene", "in:size", "crop", "out:out"],
  );
  assert.equal(graph.edges.length, 3);
});

test("packing gives a document that loads to the same process", async () => {
  const packed = await packDocument(await loadDocument(uri, { text: workflow }));
  const again = await loadDocument("https://example.org/packed.cwl", { text: JSON.stringify(packed) });
  assert.deepEqual(
    again.process.inputs.map((input) => [input.name, input.type]),
    (await loadDocument(uri, { text: workflow })).process.inputs.map((input) => [input.name, input.type]),
  );
});

test("a package names types once, imports them elsewhere, and has short relative references", async () => {
  const files: Readonly<Record<string, string>> = {
    "types.yml":
      "[{name: mode, type: enum, symbols: [a, b]}, {name: pair, type: record, fields: {m: '#mode', n: int}}]",
    "tool.cwl": `cwlVersion: v1.2
class: CommandLineTool
requirements: {SchemaDefRequirement: {types: [{$import: types.yml}]}}
baseCommand: "true"
inputs: {a: "types.yml#pair[]?"}
outputs: []
`,
  };
  const fetcher = {
    readText: (file: string) => Promise.resolve(files[file.slice(file.lastIndexOf("/") + 1)] ?? ""),
    download: () => Promise.reject(new Error("nothing is downloaded")),
  };
  const text = `cwlVersion: v1.2
class: Workflow
requirements: {SchemaDefRequirement: {types: [{$import: types.yml}]}}
inputs: {a: {type: "types.yml#pair[]?"}}
outputs: []
steps: {s: {run: tool.cwl, in: {a: {source: "#a"}}, out: []}}
`;
  const packed = (await packDocument(await loadDocument(uri, { text, fetcher }))) as { $graph: readonly object[] };
  const [tool, main] = packed.$graph as readonly { inputs: unknown; steps: unknown; requirements: unknown }[];
  assert.deepEqual(tool?.inputs, [{ id: "a", type: "#types.yml/pair[]?" }]);
  assert.deepEqual(main?.inputs, [{ id: "a", type: "#types.yml/pair[]?" }]);
  assert.deepEqual(main?.steps, [{ id: "s", in: [{ source: "a", id: "a" }], out: [], run: "#tool.cwl" }]);
  assert.deepEqual(main?.requirements, [
    { class: "SchemaDefRequirement", types: [{ $import: "#types.yml/mode" }, { $import: "#types.yml/pair" }] },
  ]);
  assert.ok((await validateDocument("https://example.org/packed.cwl", { text: JSON.stringify(packed) })).valid);
});

test("every mistake is reported at once, each with line and column and what would be right", async () => {
  const broken = workflow
    .replace("baseCommand: crop", "baseComand: crop")
    .replace("size: int?}\n  outputs: {out: stdout}", "size: integer}\n  outputs: {out: stdout}")
    .replace("outputSource: crop/out", "outputSource: crop/gone");
  const { valid, problems } = await validateDocument(uri, { text: broken });
  assert.equal(valid, false);
  const lines = problems.map(formatProblem).join("\n");
  assert.match(lines, /app\.cwl:18:3: .*no field "baseComand" \(did you mean "baseCommand"\?\)/);
  assert.match(lines, /app\.cwl:20:\d+: .*no type "integer" \(did you mean "int"\?\)/);
  assert.match(lines, /app\.cwl:10:\d+: .*crop\/gone" does not exist/);
});

test("types that can never fit and steps in a circle are refused", async () => {
  const mismatched = workflow.replace("out: {type: File,", "out: {type: int,");
  assert.match(
    (await validateDocument(uri, { text: mismatched })).problems.map(formatProblem).join(),
    /takes int, but its source gives File/,
  );
  const circle = workflow.replace("in: {scene: scene, size: size}", "in: {scene: scene, size: crop/out}");
  assert.match(
    (await validateDocument(uri, { text: circle })).problems.map(formatProblem).join(),
    /wait for each other/,
  );
});

test("every process of a file that has no main one is validated", async () => {
  const several = workflow.replace("id: main", "id: first");
  const { valid, document } = await validateDocument(uri, { text: several });
  assert.ok(valid);
  assert.equal(document?.process.name, "first");
  const broken = await validateDocument(uri, { text: several.replace("size: int?}", "size: nothing}") });
  assert.match(broken.problems.map(formatProblem).join("\n"), /no type "nothing"/);
  await assert.rejects(loadDocument(uri, { text: several }), /say which one to use/);
});

test("types are found by their file and name, and not by the name alone", async () => {
  const text = `cwlVersion: v1.2
class: CommandLineTool
requirements: {SchemaDefRequirement: {types: [{name: mode, type: enum, symbols: [a]}]}}
inputs: {a: mode, b: "#mode"}
outputs: []
`;
  assert.ok((await validateDocument(uri, { text })).valid);
  const { problems } = await validateDocument(uri, { text: text.replace('"#mode"', '"types.yml#mode"') });
  assert.match(problems.map(formatProblem).join("\n"), /no type "types\.yml#mode"/);
});

test("JavaScript that cannot be read is an error of validation, with its place", async () => {
  const text = `cwlVersion: v1.2
class: ExpressionTool
requirements: {InlineJavascriptRequirement: {expressionLib: ["var a = 1;"]}}
inputs: {n: int}
outputs: {out: int}
expression: "\${ return {out: inputs.n + a}; }"
`;
  assert.ok((await validateDocument(uri, { text })).valid);
  const places: readonly [string, string, RegExp][] = [
    ["inputs.n + a", "inputs.n + ;", /app\.cwl:1:1: expression: not valid JavaScript: SyntaxError/],
    ["var a = 1;", "var a = ;", /app\.cwl:3:\d+: expressionLib: not valid JavaScript/],
  ];
  for (const [right, wrong, message] of places) {
    const { valid, problems } = await validateDocument(uri, { text: text.replace(right, wrong) });
    assert.ok(!valid);
    assert.match(problems.map(formatProblem).join("\n"), message);
  }
});

test("fragments that rely on what a workflow around them asks for are valid by themselves, with a warning", async () => {
  const text = workflow.replace("in: {scene: scene, size: size}", "in: {scene: scene, size: {valueFrom: $(1 + 1)}}");
  const { valid, problems } = await validateDocument(uri, { text });
  assert.ok(valid);
  const lines = problems.map((problem) => `${problem.severity} ${formatProblem(problem)}`).join("\n");
  assert.match(lines, /warning .*needs StepInputExpressionRequirement/);
  assert.match(lines, /warning .*does not ask for it/);
});

test("a workflow that runs itself is refused", async () => {
  const { problems } = await validateDocument(uri, { text: workflow.replace("run: '#crop'", "run: '#main'") });
  assert.match(problems.map(formatProblem).join(), /runs itself/);
});

test("versions keep their own rules", async () => {
  const { problems } = await validateDocument(uri, {
    text: workflow.replace("v1.2", "v1.0").replace("out: [out]", "out: [out]\n      when: $(true)"),
  });
  assert.match(problems.map(formatProblem).join(), /"when" .* came with CWL v1\.2/);
});

test("the application-package lint gives advice with places", async () => {
  const { valid, problems } = await validateDocument(uri, { text: workflow, applicationPackage: true });
  assert.ok(valid);
  const lines = problems.map(formatProblem).join("\n");
  assert.match(lines, /app\.cwl:3:3: the workflow has no doc/);
  assert.match(lines, /does not say what it needs/);
  assert.match(lines, /no output is a Directory/);
});

test("bombs are refused before they go off", () => {
  const bomb = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let level = 1; level < 9; level += 1) {
    bomb.push(`a${level}: &a${level} [${Array.from({ length: 10 }, () => `*a${level - 1}`).join(", ")}]`);
  }
  const refused = (text: string): void => {
    assert.throws(
      () => parseYaml({ uri, text }),
      (error: unknown) => error instanceof CwlError && (error.code === "limit" || error.code === "invalid-document"),
    );
  };
  refused(bomb.join("\n"));
  refused("[".repeat(100_000));
  refused(" ".repeat(50 * 1024 * 1024));
  refused(`${"- ".repeat(100_000)}x`);
});

test("refuses YAML of more keys and values than the limit, before it is parsed", () => {
  const limits = { documentBytes: 2 ** 22, nodes: 1000, yamlTokens: 100_000, depth: 100 };
  const many: readonly ((count: number) => string)[] = [
    (count) => Array.from({ length: count / 2 }, (_, index) => `k${index}: v`).join("\n"),
    (count) => "- b\n".repeat(count),
    (count) => `- [${"a, ".repeat(count - 1)}]`,
    (count) => "- {a: 'b'}\n".repeat(count / 3),
    (count) => `- &a x\n${"- *a\n".repeat(count - 1)}`,
    (count) => "- |\n  a: b, c\n".repeat(count),
  ];
  for (const make of many) {
    parseYaml({ uri, text: make(400) }, limits);
    assert.throws(() => parseYaml({ uri, text: make(1200) }, limits), /more than 1000 keys and values/, make(4));
  }
});

test("__proto__ in a document is a field like any other", () => {
  const value = parseYaml({ uri, text: "__proto__: {polluted: true}" }) as Record<string, unknown>;
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.ok(Object.hasOwn(value, "__proto__"));
});

test("prefixes have to be an object", async () => {
  for (const written of ["", " [a]", " text"]) {
    const text = `cwlVersion: v1.2\nclass: CommandLineTool\n$namespaces:${written}\nbaseCommand: x\ninputs: []\noutputs: []\n`;
    const { valid, problems } = await validateDocument("https://example.org/tool.cwl", { text });
    assert.ok(!valid);
    assert.match(problems.map(formatProblem).join("\n"), /tool\.cwl:3:\d+: .*\$namespaces must be an object/);
  }
});

test("references to local files and the network need permission", async () => {
  const text = workflow.replace("run: '#crop'", "run: file:///etc/passwd");
  const local = await validateDocument(uri, { text, localFiles: false });
  assert.match(local.problems.map(formatProblem).join(), /may not refer to local files/);
  const remote = await validateDocument(uri, { text: workflow.replace("run: '#crop'", "run: other.cwl") });
  assert.match(remote.problems.map(formatProblem).join(), /no network access/);
});

test("types may keep the id of their file, and lists that may be missing flatten", async () => {
  const step = (type: string): string => `cwlVersion: v1.2
class: Workflow
requirements:
  MultipleInputFeatureRequirement: {}
  SchemaDefRequirement: {types: [{type: record, name: r, id: "#r.yml", fields: [{name: a, id: x, type: int}]}]}
inputs: {a: "${type}[]?", b: "${type}[]?", c: "#r"}
outputs: {out: {type: "int[]", linkMerge: merge_flattened, outputSource: [a, b]}}
steps: {}
`;
  assert.deepEqual((await validateDocument(uri, { text: step("int") })).problems, []);
  assert.match(
    (await validateDocument(uri, { text: step("File") })).problems.map(formatProblem).join(),
    /takes int\[\]/,
  );
});

test("lists in brackets may end at the margin, and places are those of the text as written", async () => {
  const text = `cwlVersion: v1.2
class: CommandLineTool
baseCommand: [
echo,
"a ] # b"
]
inputs:
- id: x
  type: {
  type: array, # and ] here
  items: string
}
outputs: [
]
hint: 3
`;
  const value = parseYaml({ uri, text }) as Record<string, unknown>;
  assert.deepEqual(value["baseCommand"], ["echo", "a ] # b"]);
  assert.deepEqual(value["inputs"], [{ id: "x", type: { type: "array", items: "string" } }]);
  assert.deepEqual(value["outputs"], []);
  const report = await validateDocument(uri, { text: text.replace("items: string", "itens: string") });
  assert.match(report.problems.map(formatProblem).join("\n"), /app\.cwl:11:3: .*itens/);
  assert.throws(() => parseYaml({ uri, text: "a: [\n1,\nb: 2\n" }), CwlError);
  const quoted = `doc: |
  a: "not a text
a:
  - plain: it's plain [
     "still plain
  - {x: "\${
return {'a': 1};
}", y: 'it''s
here'}
  - "k'": '
one
  two'
b: 'text
at the margin'
`;
  assert.deepEqual(parseYaml({ uri, text: quoted }), {
    doc: 'a: "not a text\n',
    a: [{ plain: "it's plain [ \"still plain" }, { x: "${ return {'a': 1}; }", y: "it's here" }, { "k'": " one two" }],
    b: "text at the margin",
  });
});

test("files that import each other, or many others, are refused", async () => {
  const files: Readonly<Record<string, string>> = {
    "https://example.org/a.cwl": "cwlVersion: v1.2\nclass: CommandLineTool\ninputs: {$import: b.yml}\noutputs: []\n",
    "https://example.org/b.yml": "x: {$import: c.yml}\n",
    "https://example.org/c.yml": "y: {$import: b.yml}\n",
    "https://example.org/wide.cwl":
      "cwlVersion: v1.2\nclass: CommandLineTool\ninputs: {$import: w0.yml}\noutputs: []\n",
  };
  const fetcher = {
    readText: async (file: string): Promise<string> => {
      await Promise.resolve();
      const [, level] = /w(\d+)\.yml$/.exec(file) ?? [];
      // Each imports the next ten times: 10^n in all.
      const next = Number(level) + 1;
      return level === undefined
        ? (files[file] ?? "")
        : Array.from({ length: 10 }, (_, index) => `k${index}: {$import: w${next}.yml}\n`).join("");
    },
    download: async () => await Promise.reject(new Error("nothing is downloaded")),
  };
  const circle = await validateDocument("https://example.org/a.cwl", { fetcher });
  assert.match(
    circle.problems.map(formatProblem).join("\n"),
    /c\.yml:1:5: .*import each other: .*b\.yml → .*c\.yml → .*b\.yml/,
  );
  const wide = await validateDocument("https://example.org/wide.cwl", { fetcher });
  assert.match(wide.problems.map(formatProblem).join("\n"), /more than 100 imports/);
});

test("brackets that are nested too deep for the parser, and a document that is, name their place", async () => {
  const problemOf = async (text: string): Promise<string> => {
    const report = await validateDocument("https://example.org/deep.cwl", { text });
    return report.problems.map(formatProblem).join();
  };
  const brackets = await problemOf(`cwlVersion: v1.2\nx: "${"[".repeat(100_000)}"`);
  assert.match(brackets, /deep\.cwl:2:2005: brackets or list items are nested deeper than 2000 levels; allowed: 200/);
  const document = await problemOf(`cwlVersion: v1.2\nx: ${"[".repeat(300)}${"]".repeat(300)}`);
  assert.match(document, /deep\.cwl:2:\d+: the document is nested deeper than 200 levels/);
});
