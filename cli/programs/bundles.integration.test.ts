import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import assert from "node:assert/strict";

import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { LIST, codeVersionOfAll, listPrograms, readBundles } from "./bundles.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-bundles-"));
const MAKER = join(import.meta.dirname, "make-bundles.ts");
/** Programs that a service starts with a channel of its own, and say nothing of settings. */
const STARTED_BY_OTHERS = ["components/ades/runner/main.ts", "components/ades/step-files/main.ts"];

before(() => make());
after(() => rmSync(folder, { recursive: true, force: true }));

function make(): void {
  const { status, stderr } = spawnSync(process.execPath, [MAKER, folder], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
}

/** What a program says that has no settings: those are read after all its modules were loaded. */
function run(file: string): string {
  const { stdout, stderr } = spawnSync(process.execPath, [file], {
    encoding: "utf8",
    timeout: 60_000,
    env: { PATH: process.env["PATH"], LISTEN: "nowhere" },
  });
  return stdout + stderr;
}

test("every program has a bundle, which starts and says what its settings lack, as its sources do", () => {
  const files = readBundles(folder)?.files ?? {};
  assert.deepEqual(Object.keys(files), listPrograms());
  for (const program of listPrograms().filter((each) => !STARTED_BY_OTHERS.includes(each))) {
    const said = run(join(folder, files[program] ?? ""));
    assert.match(said, /"level":"fatal"/, `${program}: ${said}`);
    assert.match(said, /is missing|is not usable|listen address|usage/, `${program}: ${said}`);
  }
});

test("an error in the log names the line of the source", () => {
  const files = readBundles(folder)?.files ?? {};
  const said = run(join(folder, files["components/identity/bootstrap/main.ts"] ?? ""));
  const stack = /"stack":"(.*?[^\\])"/.exec(said)?.[1] ?? "";
  const [, file = "", line = ""] = /(?:at |\()(\/[^()]*\.ts):(\d+):\d+/.exec(stack.replaceAll("\\n", "\n")) ?? [];
  assert.ok(file.startsWith(`${repositoryRoot}/`), said);
  assert.match(readFileSync(file, "utf8").split("\n")[Number(line) - 1] ?? "", /throw|new \w+Error/);
});

test("nothing is made again for the same code", () => {
  // Other tests touch files of this checkout, which is another code from then on.
  for (let attempt = 0; attempt < 5; attempt += 1) {
    make();
    const version = codeVersionOfAll();
    const before = statSync(join(folder, LIST)).mtimeMs;
    make();
    if (codeVersionOfAll() === version && readBundles(folder)?.version === version) {
      assert.equal(statSync(join(folder, LIST)).mtimeMs, before);
      return;
    }
  }
  assert.fail("the code was changed all the time");
});

test("files of earlier code stay while a process runs from them, and the latest of them always", () => {
  const list = readBundles(folder);
  assert.ok(list);
  for (const name of ["old-a.mjs", "used-b.mjs", "used-lazy-b.mjs"]) {
    writeFileSync(join(folder, name), "setInterval(() => {}, 1000);");
  }
  const user = spawn(process.execPath, [join(folder, "used-b.mjs")], { stdio: "ignore" });
  const earlier = [["old-a.mjs"], ["used-b.mjs", "used-lazy-b.mjs"]];
  writeFileSync(join(folder, LIST), JSON.stringify({ ...list, version: "another", earlier }));
  make();
  user.kill();
  const found = new Set(readdirSync(folder));
  assert.deepEqual(readBundles(folder)?.earlier, [list.all, ["used-b.mjs", "used-lazy-b.mjs"]]);
  assert.ok(!found.has("old-a.mjs"));
  assert.ok(["used-b.mjs", "used-lazy-b.mjs", ...list.all].every((name) => found.has(name)));
});
