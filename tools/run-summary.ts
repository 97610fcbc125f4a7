import type { FileResult } from "./file-pool.ts";

const MAX_FILES = 25;
/** Of Node.js's reporter. */
const COUNTS = ["tests", "pass", "fail", "cancelled", "skipped", "todo"];

/** How many tests there were in all files, and which files took longest, for those who want the run to be shorter. */
export function describeRun(results: readonly FileResult[]): string {
  const counts = COUNTS.map((name) => {
    const lines = results.flatMap(({ output }) => [...output.matchAll(new RegExp(`^ℹ ${name} (\\d+)$`, "gm"))]);
    return `ℹ ${name} ${lines.reduce((sum, [, count]) => sum + Number(count), 0)}`;
  });
  const slowest = results.toSorted((a, b) => b.seconds - a.seconds).slice(0, MAX_FILES);
  const lines = slowest.map(({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`);
  return [...counts, ...(results.length > 1 ? [`\nslowest files:\n${lines.join("\n")}`] : [])].join("\n");
}

/** What a file printed, without the counts at its end. */
export function withoutCounts(output: string): string {
  return output.replaceAll(/^ℹ (?:tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) .*\n/gm, "").trim();
}
