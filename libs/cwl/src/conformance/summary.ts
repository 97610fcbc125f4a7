import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestResult } from "./run-tests.ts";

export interface TagCount {
  readonly tag: string;
  readonly passed: number;
  readonly total: number;
}

/** How many of each tag passed, by name; `all` last. */
export function countByTag(results: readonly TestResult[]): TagCount[] {
  const tags = [...new Set(results.flatMap(({ test }) => test.tags))].toSorted();
  const count = (tag: string, list: readonly TestResult[]): TagCount => ({
    tag,
    passed: list.filter(({ state }) => state === "passed").length,
    total: list.length,
  });
  return [
    ...tags.map((tag) =>
      count(
        tag,
        results.filter(({ test }) => test.tags.includes(tag)),
      ),
    ),
    count("all", results),
  ];
}

/** The last line of cwltest: what people and scripts look for. */
export function summaryLine(results: readonly TestResult[]): string {
  const count = (state: string): number => results.filter((result) => result.state === state).length;
  const [passed, failed, unsupported] = [count("passed"), count("failed"), count("unsupported")];
  return failed === 0 && unsupported === 0
    ? "All tests passed"
    : `${passed} tests passed, ${failed} failures, ${unsupported} unsupported features`;
}

/** A badge a tag, as shields.io endpoints and cwltest have them, with a page that lists the tests. */
export function writeBadges(directory: string, results: readonly TestResult[]): void {
  mkdirSync(directory, { recursive: true });
  for (const { tag, passed, total } of countByTag(results)) {
    const status = `${Math.floor((passed / Math.max(total, 1)) * 100)}%`;
    const color = passed === total ? "green" : tag === "required" ? "red" : "yellow";
    const badge = { schemaVersion: 1, label: tag, message: status, subject: tag, status, color };
    // A tag is text of the suite; it names a file here.
    const name = tag.replaceAll(/[^\w.-]/g, "_").replace(/^\.+/, "_");
    writeFileSync(join(directory, `${name}.json`), `${JSON.stringify(badge)}\n`);
    const lines = results
      .filter(({ test }) => tag === "all" || test.tags.includes(tag))
      .map(({ test, state }) => `- ${state}: ${test.id} ${test.doc}`);
    writeFileSync(join(directory, `${name}.md`), `# ${tag}: ${passed} of ${total} passed\n\n${lines.join("\n")}\n`);
  }
}

/** The results as a JUnit document. */
export function junitXml(suite: string, results: readonly TestResult[]): string {
  const count = (state: string): number => results.filter((result) => result.state === state).length;
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const cases = results.map(({ test, state, reasons, seconds: time, stdout, stderr }) => {
    const why = reasons.join("\n");
    const inner =
      state === "passed"
        ? []
        : state === "unsupported"
          ? [`<skipped message="${escape(why)}"/>`]
          : [
              `<failure message="${escape(why.slice(0, 1000))}">${escape(why)}</failure>`,
              `<system-out>${escape(stdout.slice(-MAX_LOG_CHARACTERS))}</system-out>`,
              `<system-err>${escape(stderr.slice(-MAX_LOG_CHARACTERS))}</system-err>`,
            ];
    const open = `    <testcase name="${escape(`${test.id}: ${test.doc}`)}" classname="${escape(test.tags.join(","))}" file="${escape(test.tool)}" time="${time.toFixed(3)}"`;
    return inner.length === 0
      ? `${open}/>`
      : `${open}>\n${inner.map((line) => `      ${line}`).join("\n")}\n    </testcase>`;
  });
  const counts = `tests="${results.length}" failures="${count("failed")}" errors="0" skipped="${count("unsupported")}" time="${seconds.toFixed(3)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites ${counts}>
  <testsuite name="${escape(suite)}" ${counts}>
${cases.join("\n")}
  </testsuite>
</testsuites>
`;
}

const MAX_LOG_CHARACTERS = 64 * 1024;

const entities: { readonly [char: string]: string } = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** XML text without the characters that XML 1.0 has no way to write. */
function escape(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- control characters are what this is about
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd")
      .replaceAll(/[&<>"]/g, (char) => entities[char] ?? char)
  );
}
