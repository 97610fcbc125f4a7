// The examples of the README are files, which run and print what their comments say.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const folder = join(import.meta.dirname, "../examples");
const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
const names = readdirSync(folder).toSorted();

test("there are ten examples", () => assert.equal(names.length, 10));

for (const name of names) {
  test(`example ${name}`, (t) => {
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    assert.ok(readme.includes(text), `${name} is not in the README as it is`);
    const cwd = mkdtempSync(join(tmpdir(), "cwl-example-"));
    t.after(() => rmSync(cwd, { recursive: true, force: true }));
    const { status, stdout, stderr } = spawnSync(process.execPath, [path], { cwd, encoding: "utf8" });
    assert.equal(status, 0, stderr);
    const expected = [...text.matchAll(/\/\/ → (.*)$/gm)].map(([, line = ""]) => line);
    assert.ok(expected.length > 0);
    assert.deepEqual(stdout.trimEnd().split("\n"), expected);
  });
}
