import assert from "node:assert/strict";
import { test } from "node:test";

import { indentFlowLines } from "./flow-indent.ts";
import { withoutStackTraces } from "./yaml-bounds.ts";
import { parseYaml } from "./yaml.ts";

const uri = "https://example.org/app.cwl";
const limits = { documentBytes: 2 ** 21, nodes: 100_000, yamlTokens: 10_000, depth: 100 };
const BYTES = 1_700_000;
const repeat = (line: string) => line.repeat(BYTES / line.length);

/** Few keys and values, or none: each took seconds of its parser. */
const MANY_TOKENS: Readonly<Record<string, string>> = {
  "commas of a list": `a: [${repeat(",")}]`,
  "a list at the margin, which is moved": `a: [\n${repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa,\n")}]`,
  "keys without a name": repeat(":\n"),
  "keys without a value": repeat("? \n"),
  comments: repeat("# a\n"),
  "list items of nothing": repeat("- \n"),
  "brackets that close nothing": repeat("]\n"),
  documents: repeat("---\n"),
  directives: repeat("%YAML 1.2\n"),
  "tabs as indentation": `a:\n${repeat("\t- a\n")}`,
};

for (const [what, text] of Object.entries(MANY_TOKENS)) {
  test(`refuses YAML of too many tokens before it is parsed: ${what}`, () => {
    assert.throws(() => parseYaml({ uri, text }, limits), /more than 10000 tokens of YAML/);
  });
}

test("a long text, comment or list of numbers is no such YAML", () => {
  const text = `# ${"a".repeat(500_000)}\na: |\n${"  line of a script\n".repeat(20_000)}b: [${"1, ".repeat(3000)}]\n`;
  assert.equal((parseYaml({ uri, text }, limits) as { b: unknown[] }).b.length, 3000);
});

test("lines that may have to be moved are found in one pass, also without what is searched", () => {
  const started = process.cpuUsage().user;
  indentFlowLines(`a:\n${repeat("\t- a\n")}`);
  indentFlowLines(`a: ${repeat("b: ")}`);
  indentFlowLines(repeat("a: [\n"));
  indentFlowLines(repeat("a: '\n"));
  // Minutes when each line, or each key, is searched to the end of the text.
  assert.ok(process.cpuUsage().user - started < 10_000_000, "ten seconds of processor time");
});

test("mistakes have no stack traces while a text is parsed, and have them again afterwards", () => {
  const { stack } = withoutStackTraces(() => new Error("a mistake"));
  assert.doesNotMatch(stack ?? "", /\n\s+at /);
  assert.throws(
    () =>
      withoutStackTraces(() => {
        throw new Error("broken");
      }),
    /broken/,
  );
  assert.match(new Error("later").stack ?? "", /\n\s+at /);
});
