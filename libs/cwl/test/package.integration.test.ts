// The library as others get it: packed by npm, used from plain JavaScript below node_modules.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { buildPackage } from "../build-package.ts";

const scratch = realpathSync(mkdtempSync(join(tmpdir(), "cwl-package-")));
after(() => rmSync(scratch, { recursive: true, force: true }));
const modules = join(import.meta.dirname, "../../../node_modules");
const dependencies = ["quickjs-emscripten-core", "yaml", "@jitl"];

const script = `import { createLoader, loadDocument, runProcess } from "@swath/cwl";
const { loadConformanceTests } = await import(["@swath/cwl", "conformance"].join("/"));
const text = \`cwlVersion: v1.2
class: CommandLineTool
requirements: {InlineJavascriptRequirement: {}}
baseCommand: echo
inputs: {n: int}
arguments: [$(inputs.n * 2)]
outputs: {out: {type: string, outputBinding: {glob: o, loadContents: true, outputEval: "$(self[0].contents.trim())"}}}
stdout: o
\`;
const loader = createLoader();
const report = await loader.validate("https://example.org/a.cwl", { text });
await loader.close();
const document = await loadDocument("https://example.org/a.cwl", { text });
const { out } = await runProcess({ document, inputs: { n: 21 }, outDir: "out" });
console.log(report.valid, out, typeof loadConformanceTests);
`;

test("the package that npm makes runs without this repository", () => {
  const folder = join(scratch, "package");
  buildPackage(folder);
  const packed = execFileSync("npm", ["pack", "--silent", "--pack-destination", scratch], {
    cwd: folder,
    encoding: "utf8",
  });
  const installed = join(scratch, "use/node_modules/@swath/cwl");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(scratch, packed.trim()), "-C", installed, "--strip-components=1"]);
  rmSync(folder, { recursive: true });
  for (const name of dependencies) {
    const target = join(scratch, "use/node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(realpathSync(join(modules, name)), target);
  }
  writeFileSync(join(scratch, "use/plain.mjs"), script);
  const options = { cwd: join(scratch, "use"), encoding: "utf8", env: { PATH: "/usr/bin:/bin" } } as const;
  assert.equal(execFileSync(process.execPath, ["plain.mjs"], options), "true 42 function\n");
  const program = join(installed, "dist/main.js");
  writeFileSync(
    join(scratch, "use/tool.cwl"),
    "{cwlVersion: v1.2, class: CommandLineTool, baseCommand: echo, inputs: {}, outputs: {}}",
  );
  assert.equal(execFileSync(process.execPath, [program, "run", "--quiet", "tool.cwl"], options).trim(), "{}");
  assert.ok(readdirSync(join(installed, "dist/src")).includes("index.d.ts"));
  assert.deepEqual(readdirSync(installed).toSorted(), ["LICENSE", "README.md", "dist", "package.json"]);
});
