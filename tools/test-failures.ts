// A reporter of `node --test` that keeps only what failed: where, and what was found there. Printed again at the end of a whole run,
// where nobody has to look for it among thousands of lines.
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";
import { inspect } from "node:util";

/** Longest text of one failure, in characters: a page of a browser in an assertion must not push the other failures away. */
const LONGEST = 6_000;

const UNCAUGHT =
  /generated asynchronous activity after the test ended|triggered an (?:unhandledRejection|uncaughtException)/;
const UNCAUGHT_TITLE = "nothing caught an error of this file";

export default async function* listFailures(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === "test:diagnostic" && UNCAUGHT.test(data.message)) {
      // Node.js itself only mentions an error that nothing caught once the test in whose context it came has ended.
      const place = data.file === undefined ? "" : ` (${relative(process.cwd(), data.file)}:${data.line ?? 1})`;
      yield `failed: ${UNCAUGHT_TITLE}${place}\n${data.message.slice(0, LONGEST).replaceAll(/^/gm, "  ")}\n`;
    }
    if (type !== "test:fail") {
      continue;
    }
    const { error } = data.details;
    if ("failureType" in error && error.failureType === "subtestsFailed") {
      continue;
    }
    const text = inspect(error.cause ?? error, { depth: 6, maxArrayLength: 50, maxStringLength: LONGEST });
    const place = data.file === undefined ? "" : ` (${relative(process.cwd(), data.file)}:${data.line ?? 1})`;
    yield `failed: ${data.name}${place}\n${text.slice(0, LONGEST).replaceAll(/^/gm, "  ")}\n`;
  }
}

/** Whether a text of this reporter names an error that nothing caught: the run has failed, although every test passed. */
export function hasUncaughtError(text: string): boolean {
  return text.includes(`failed: ${UNCAUGHT_TITLE}`);
}

/** The files, relative to the root, that a text of this reporter names: each once. */
export function findFailedFiles(text: string): string[] {
  const places = text.matchAll(/^failed: .*?([^\s()]+\.test\.ts)(?::\d+\))?$/gm);
  return [...new Set([...places].map(([, file = ""]) => relative(process.cwd(), file)))];
}
