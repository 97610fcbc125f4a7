// Expressions that want all memory or all time: each ends within its limits, and the process stays small.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Worker } from "node:worker_threads";
import { CwlError } from "../src/errors.ts";
import { Evaluator } from "../src/expressions/evaluate.ts";
import { defaultSandboxLimits } from "../src/expressions/limits.ts";

const MIB = 1024 * 1024;
const context = { inputs: { list: [1, 2, 3], text: "x" }, self: null, runtime: {} };
const limits = { ...defaultSandboxLimits, milliseconds: 400 };
const evaluator = new Evaluator({ javascript: true, library: [], version: "v1.2", limits });

/** The threads that live. */
const threads = new Set<Worker>();
process.on("worker", (thread) => {
  threads.add(thread);
  thread.once("exit", () => threads.delete(thread));
});

/** What a thread needs beside the memory of scripts: its own heap, the texts that go in and out, the code of the machine. */
const OVERHEAD_MIB = 160;

const attacks: readonly string[] = [
  "while (true) {}",
  "for (;;) { try { while (true) {} } catch (e) {} }",
  "var a = []; while (true) a.push(new Array(10000).join('x'));",
  "var a = []; while (true) a.push({});",
  "var a = []; try { while (true) a.push(new Uint8Array(1e6)); } catch (e) {} while (true) {}",
  "var s = 'x'; while (true) s += s;",
  "var s = 'x'; while (true) { s += s; try { s.split('').sort().join(); } catch (e) { s = 'x'; } }",
  "return 'x'.repeat(2e9);",
  "return new Array(1e9).fill('x');",
  "return new ArrayBuffer(2e9).byteLength;",
  "return new Array(5e6).join('xxxxxxxxxx');",
  "return Array(3e7).fill(0);",
  "return /^(a+)+$/.test(new Array(40).join('a') + '!');",
  "return /(x+x+)+y/.test(new Array(60).join('x'));",
  "return new Array(100).join('a').replace(/(a|a)*b/g, '');",
  "function f() { return f() + 1; } return f();",
  "function f(n) { try { f(n + 1); } finally { f(n + 1); } } f(0);",
  "var o = {}; o.toJSON = function () { return [o, o]; }; return o;",
  "var o = {}; for (var i = 0; i < 1e4; i++) o = {o: o}; return o;",
  "var a = []; a[4294967290] = 1; a.sort(); return a.reverse();",
  "return JSON.parse(new Array(1e6).join('['));",
  "return eval(new Array(1e5).join('(') + '1' + new Array(1e5).join(')'));",
  "return new Function(new Array(1e6).join('var a;'))();",
  "return JSON.stringify(new Array(1e6).join('\\u0000')).length > 0 ? new Array(4e7).join('\\u0000') : 0;",
  "Array.prototype.join = function () { while (true) {} }; return [1, 2].join();",
  "return new Proxy({}, { ownKeys: function () { while (true) {} } });",
  "var m = new Map(); for (var i = 0; ; i++) m.set(i, 'x' + i);",
  "var p = []; for (;;) p.push(Promise.resolve().then(function () {}));",
  "function* g() { while (true) yield 1; } return Array.from(g());",
  "return BigInt(2) ** BigInt(1e9) > 0;",
  "return String.prototype.padEnd.call('x', 1e9, 'y').length;",
  // Long work inside one call of the engine, which asks nobody whether it may go on.
  "while (true) new Array(1000000).join('x');",
  "var a = new Array(1e6).join('x'); while (true) a.indexOf('y');",
  "var a = new Array(1e6).join('x'); while (true) a.split('');",
  "var a = new Uint8Array(5e7); while (true) { a.fill(1); a.reverse(); a.sort(); a.indexOf(9); }",
  "return JSON.stringify(new Array(5e6).fill('x')).length;",
  "return 'x'.repeat(1e7).replace(/x/g, 'yyyyy').length;",
  ...["indexOf", "lastIndexOf", "includes", "reverse", "copyWithin", "unshift"].map(
    (name) => `return Array.prototype.${name}.call({length: 9007199254740990}, 1);`,
  ),
  ...["join", "sort", "slice"].map((name) => `return Array.prototype.${name}.call({length: 4294967295}, 1);`),
  "for (;;) console.log(new Array(1e5).join('x'));",
  "console.log = null; JSON.stringify = null; JSON.parse = null; Object.prototype.toString = null; return 1;",
  "return globalThis.inputs = globalThis.self = globalThis.runtime = undefined;",
];

/** From the question to the answer: the limit, the grace of a thread, and its start where the machine is busy. */
const MAX_SECONDS = 10;

test("attacks on memory and time end within their limits", async () => {
  await evaluator.evaluate("$(1)", context);
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
  try {
    for (const attack of attacks) {
      const started = performance.now();
      const outcome = await evaluator.evaluate(`\${${attack}}`, context).then(
        (value) => JSON.stringify(value ?? null),
        (error: unknown) => {
          assert.ok(error instanceof CwlError, `${attack}: ${String(error)}`);
          assert.ok(["limit", "expression"].includes(error.code), attack);
          return "";
        },
      );
      const seconds = (performance.now() - started) / 1000;
      assert.ok(seconds < MAX_SECONDS, `${attack}: ${seconds} s`);
      assert.ok(outcome.length <= limits.resultCharacters, attack);
      const grown = (peak - before) / MIB;
      assert.ok(grown < limits.memoryBytes / MIB + OVERHEAD_MIB, `${attack}: ${Math.round(grown)} MiB`);
      assert.equal(await evaluator.evaluate("$(inputs.list.length)", context), 3, `after ${attack}`);
    }
  } finally {
    clearInterval(watch);
  }
});

test("a script that cannot be interrupted holds up nobody", async () => {
  const slow = evaluator.evaluate("${return /^(a+)+$/.test(new Array(40).join('a') + '!');}", context);
  const outcome = assert.rejects(slow, /longer than 400 ms/);
  assert.equal(await evaluator.evaluate("$(1 + 1)", context), 2);
  await outcome;
});

test("what a script writes to the console goes to whoever listens, also when it fails", async () => {
  const lines: string[] = [];
  const listening = new Evaluator({
    javascript: true,
    library: [],
    version: "v1.2",
    limits,
    onLog: (text) => lines.push(text),
  });
  assert.equal(await listening.evaluate("${console.log('n is', inputs.list, {a: 1}); return 1;}", context), 1);
  await assert.rejects(listening.evaluate("${console.error('before'); throw new Error('x');}", context), /Error: x/);
  assert.deepEqual(lines, ['n is [1,2,3] {"a":1}\n', "before\n"]);
});

test("a thread that ended while it had nothing to do is replaced", async () => {
  await evaluator.evaluate("$(1 + 1)", context);
  assert.ok(threads.size > 0);
  for (const thread of threads) {
    // Nobody waits for an answer of it: its error must not end the process either.
    thread.emit("error", new Error("on purpose"));
    await thread.terminate();
  }
  // One that is asked and does not live gives no answer within a minute.
  assert.equal(await evaluator.evaluate("$(1 + 1)", context), 2);
});
