import assert from "node:assert/strict";
import { test } from "node:test";

import { findFailure } from "./judge-cell.ts";

const run = (output: string, error: string | null = null) => findFailure({ source: "", error, output });

test("a cell fails by its exception", () => {
  assert.equal(run("", "KeyError: 'features'"), "KeyError: 'features'");
});

test("a cell fails by a status of 400 or more, or a cross, that it prints", () => {
  assert.equal(run("Docs (http://x/docs): 200\nJobs (http://x/jobs): 404\n"), "it printed: Jobs (http://x/jobs): 404");
  assert.match(run('POST http://x - 409 - {"title": "Conflict"}') ?? "", /409/);
  assert.match(run("Create User Status: 403\n") ?? "", /403/);
  assert.match(run(`'{"type":"about:blank","status":404}'`) ?? "", /404/);
  assert.match(run("Found 2\n❌ Dataset 'a' registration failed\n") ?? "", /Dataset/);
});

test("numbers that are no statuses do not fail a cell", () => {
  for (const output of [
    "Found 404 items\n",
    "{'matches': 404, 'returned': 10}\n",
    "Client token 404 is fine: 200\n",
    '  "eo:cloud_cover": 412.5,\n',
    '{"status": "successful", "progress": 500}',
    "✅ Dataset 'a' was deregistered\n",
  ]) {
    assert.equal(run(output), undefined, output);
  }
});
