import assert from "node:assert/strict";
import { test } from "node:test";
import { CwlError } from "../errors.ts";
import { Evaluator } from "./evaluate.ts";
import { defaultSandboxLimits } from "./limits.ts";
import { sandboxPool } from "./sandbox-pool.ts";
import { scanExpressions } from "./scan.ts";

const context = {
  inputs: { file: { class: "File", basename: "a b.txt" } as const, list: [1, 2, 3], "odd name": "x", big: 1e42 },
  self: null,
  runtime: { cores: 2 },
};
const plain = new Evaluator({ javascript: false, library: [], version: "v1.2" });
const limits = { ...defaultSandboxLimits, memoryBytes: 16 * 1024 * 1024 };
const options = { javascript: true, library: ["function twice(x) { return 2 * x; }"], version: "v1.2" } as const;
const script = new Evaluator({ ...options, limits });
/** For what would never end. The others have time: on a machine with much to do a moment is long. */
const impatient = new Evaluator({ ...options, limits: { ...limits, milliseconds: 150 } });

test("parameter references follow names, indexes and length, without JavaScript", async () => {
  assert.equal(await plain.evaluate("$(inputs.file.basename)", context), "a b.txt");
  assert.equal(await plain.evaluate("$(inputs['odd name'])", context), "x");
  assert.equal(await plain.evaluate("$(inputs.list[1])", context), 2);
  assert.equal(await plain.evaluate("$(inputs.list.length)", context), 3);
  assert.equal(await plain.evaluate("n=$(inputs.list) of $(inputs.big)", context), `n=[1, 2, 3] of 1${"0".repeat(42)}`);
  assert.equal(await plain.evaluate("$(null)", context), null);
});

test("a reference to what is not there says what is missing", async () => {
  await assert.rejects(plain.evaluate("$(inputs.file.nothing)", context), /inputs\.file has no "nothing"/);
  await assert.rejects(plain.evaluate("$(null.x)", context), CwlError);
  await assert.rejects(plain.evaluate("$(inputs.file.basename.length)", context), CwlError);
  await assert.rejects(plain.evaluate("$(1 + 1)", context), /InlineJavascriptRequirement/);
});

test("inherited members are not there", async () => {
  for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    await assert.rejects(plain.evaluate(`$(inputs.${name})`, context), CwlError);
  }
});

test("JavaScript sees inputs and the library, and gives JSON back", async () => {
  assert.equal(await script.evaluate("$(twice(inputs.list[2]))", context), 6);
  assert.deepEqual(await script.evaluate("${ return {a: inputs.list.map(twice)}; }", context), { a: [2, 4, 6] });
  assert.equal(await script.evaluate("$(inputs.nothing)", context), null);
  assert.equal(await script.evaluate("${ // a comment with ' and )\n return 1; }", context), 1);
});

test("brackets that are nested beyond what the parser holds are refused in words, wherever they stand", async () => {
  const deep = `${"(".repeat(100_000)}1${")".repeat(100_000)}`;
  const words = /nested 10000\d brackets deep; allowed: 500/;
  await assert.rejects(script.evaluate(`$(${deep})`, context), words);
  await assert.rejects(
    new Evaluator({ ...options, library: [`var x = ${deep};`] }).evaluate("$(1 + 1)", context),
    words,
  );
  // What stands in strings, comments and regular expressions is no nesting.
  const open = "[".repeat(1000);
  assert.equal(
    await script.evaluate(`\${ // ${open}\n var r = /[(]/; /* ${open} */ return "${open}".length; }`, context),
    1000,
  );
  assert.equal(await script.evaluate(`$(${"(".repeat(400)}1 + 1${")".repeat(400)})`, context), 2);
});

test("a parser that gave up does not spoil what is read after it", async () => {
  const sources = [
    `(${"(".repeat(100_000)}`,
    `(${"!".repeat(100_000)}1)`,
    `(${"if (1) ".repeat(100_000)};)`,
    "(1)",
    "(1",
  ];
  const [brackets, signs, statements, right, wrong] = await sandboxPool.check(sources);
  assert.match(brackets ?? "", /nested 100001 brackets deep; allowed: 500/);
  assert.match(signs ?? "", /nested too deeply to be read/);
  assert.match(statements ?? "", /JavaScript|nested too deeply/);
  assert.equal(right, undefined);
  assert.match(wrong ?? "", /^not valid JavaScript: SyntaxError/);
});

test("one evaluation leaves nothing behind for the next", async () => {
  await script.evaluate("${ globalThis.leak = 1; Array.prototype.leak = 2; return 0; }", context);
  assert.equal(await script.evaluate("$(typeof leak + typeof [].leak)", context), "undefinedundefined");
});

test("hostile expressions are stopped and reach nothing", async () => {
  await assert.rejects(impatient.evaluate("${ while (true) {} }", context), /longer than 150 ms/);
  const stopped: readonly [string, RegExp][] = [
    ["${ var a = []; while (true) a.push(new Array(10000).join('x')); }", /MiB|longer than/],
    ["${ function f() { return f() + 1; } return f(); }", /recursed too deeply/],
    ["$(process.exit(1))", /ReferenceError|not defined/],
    ["$(require('fs'))", /ReferenceError|not defined/],
    ["${ return fetch('http://localhost'); }", /ReferenceError|not defined/],
    ["${ return import('fs'); }", /./],
    ["${ throw 'x' + 'y'; }", /xy/],
  ];
  for (const [text, message] of stopped) {
    if (text.includes("import(")) {
      assert.deepEqual(await script.evaluate(text, context).catch(() => ({})), {});
    } else {
      await assert.rejects(script.evaluate(text, context), message, text);
    }
  }
  const escape = "$(this.constructor.constructor('return typeof process + typeof require + typeof fetch')())";
  assert.equal(await script.evaluate(escape, context), "undefinedundefinedundefined");
});

test("escapes differ between versions", () => {
  const pieces = (text: string, escaping: "v1.0" | "v1.2"): string =>
    scanExpressions(text, { javascript: true, escaping })
      .map((piece) => (piece.kind === "text" ? piece.text : `<${piece.code}>`))
      .join("");
  assert.equal(pieces("\\$(a) $(b) \\\\ \\x", "v1.2"), "$(a) <b> \\ \\x");
  assert.equal(pieces("\\x $(b)", "v1.0"), "x <b>");
  assert.equal(pieces("$(f(')') + /[)]/.source)", "v1.2"), "<f(')') + /[)]/.source>");
  assert.throws(() => pieces("$(a", "v1.2"), /has no end/);
});

test("a slow expression does not hold up other work", async () => {
  let ticks = 0;
  const timer = setInterval(() => (ticks += 1), 5);
  const patient = new Evaluator({ javascript: true, library: [], version: "v1.2" });
  const text = "${ var t = Date.now(); while (Date.now() - t < 250) {} return inputs.list.length; }";
  assert.equal(await patient.evaluate(text, context), 3);
  clearInterval(timer);
  assert.ok(ticks > 3);
});
