import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const ROOT = join(import.meta.dirname, "../..");
const MIN_KINDS = 60;

test("each kind of hostile request has the test that README.md names", () => {
  const text = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
  const rows = [...text.matchAll(/^\| (.+?) +\| `([^`]+\.test\.ts)` +\| (.+?) +\|$/gm)];
  assert.ok(rows.length >= MIN_KINDS, `${rows.length} kinds`);
  assert.equal(new Set(rows.map(([, kind]) => kind)).size, rows.length, "a kind is there twice");
  for (const [, kind, file = "", title = ""] of rows) {
    assert.ok(existsSync(join(ROOT, file)), `${kind}: there is no ${file}`);
    assert.ok(readFileSync(join(ROOT, file), "utf8").includes(title), `${kind}: ${file} has no test "${title}"`);
  }
});
