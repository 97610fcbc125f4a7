// The words that every command shares: help, and what is said to a command that is not there.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

function swath(...args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, "main.ts"), ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test("help is that of the command, or of the word after it where it has words of its own", () => {
  assert.match(swath("pods", "--help").stdout, /^Usage: swath pods/);
  assert.match(swath("cwl", "--help").stdout, /^Usage: swath cwl run/);
  const { status, stdout } = swath("cwl", "run", "--help");
  assert.equal(status, 0);
  assert.match(stdout, /^ +--strict-memory-limit /m);
});

test("a command that is not there is answered with the nearest one, a wrong option without a stack", () => {
  const unknown = swath("cwll");
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /did you mean "cwl"\?/);
  assert.equal(swath("").status, 2);
  const { status, stderr } = swath("pods", "--no-such-option");
  assert.equal(status, 1);
  assert.match(stderr, /^swath: Unknown option '--no-such-option'/);
  assert.doesNotMatch(stderr, /\n +at /);
});
