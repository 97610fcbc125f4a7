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

/** Prints the packages of what a program loaded when it ends. */
const LIST_PACKAGES = `
  import { registerHooks } from "node:module";
  const names = new Set();
  registerHooks({
    load: (url, context, next) => {
      const name = /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
      if (name !== undefined) names.add(name);
      return next(url, context);
    },
  });
  process.on("exit", () => console.error("packages: " + [...names].join(" ")));
`;

test("a command loads nothing that only services need", () => {
  for (const args of [
    ["pods", "no-such-cluster"],
    ["cluster", "delete", "no-such-cluster", "--yes"],
  ]) {
    const program = [
      `--import=data:text/javascript,${encodeURIComponent(LIST_PACKAGES)}`,
      join(import.meta.dirname, "main.ts"),
    ];
    const { stderr } = spawnSync(process.execPath, [...program, ...args], { encoding: "utf8" });
    const [, packages] = /^packages: (.*)$/m.exec(stderr) ?? [];
    assert.ok(packages !== undefined, stderr);
    const unwanted = ["fastify", "undici", "prom-client", "pino", "pg", "kysely", "typebox"];
    assert.deepEqual(
      packages.split(" ").filter((name) => unwanted.includes(name)),
      [],
    );
  }
});
