// `npm run bench [-- name … --full]`: runs every *.bench.ts (or those whose names hold one of the words), one after another, and
// prints one table. bench/results/ keeps the newest of each as Markdown and JSON;
// `--publish` puts what was measured in this run into docs/reference/benchmarks.md, and leaves the rest of it as it is.
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { join } from "node:path";

import type { BenchRow } from "./types.ts";

// Databases wait for the disk, as in production.
process.env["SWATH_TEST_DURABLE"] = "true";

const expected = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const files = globSync("*.bench.ts", { cwd: import.meta.dirname })
  .filter((file) => expected.length === 0 || expected.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no benchmark matches ${expected.join(", ")}`);
  process.exit(2);
}

/** What one file measured, where and when. */
interface Measured {
  readonly machine: string;
  readonly date: string;
  /** Load of the machine when it began: figures of a busy machine say little. */
  readonly load: number;
  readonly rows: readonly BenchRow[];
}

const machine = `${cpus()[0]?.model.trim() ?? "unknown"}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}, Node ${process.versions.node}`;
const results = join(import.meta.dirname, "results");
const measured = new Map<string, Measured>(Object.entries(readEarlier()));
let failed = false;
for (const file of files) {
  console.error(`# ${file}`);
  const date = new Date().toISOString().slice(0, 10);
  const load = Number(loadavg()[0]?.toFixed(1));
  try {
    const { bench } = (await import(join(import.meta.dirname, file))) as { bench: () => Promise<BenchRow[]> };
    measured.set(file, { machine, date, load, rows: await bench() });
  } catch (error) {
    failed = true;
    console.error(error);
  }
}

console.log(toMarkdown(files.flatMap((file) => measured.get(file)?.rows ?? [])));
const all = [...measured].sort(([a], [b]) => (a < b ? -1 : 1));
mkdirSync(results, { recursive: true });
writeFileSync(join(results, "latest.json"), `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
writeFileSync(join(results, "latest.md"), toPage(all));
if (process.argv.includes("--publish")) {
  const page = join(import.meta.dirname, "../docs/reference/benchmarks.md");
  const now = all.filter(([file]) => files.includes(file)).map(toSection);
  writeFileSync(page, mergeSections(readFileSync(page, "utf8"), now));
}
process.exit(failed ? 1 : 0);

/** What was measured before stays until it is measured again. */
function readEarlier(): Record<string, Measured> {
  try {
    return JSON.parse(readFileSync(join(results, "latest.json"), "utf8")) as Record<string, Measured>;
  } catch {
    return {};
  }
}

function toPage(subjects: readonly (readonly [file: string, Measured])[]): string {
  return mergeSections("", subjects.map(toSection));
}

function toSection([file, { machine: where, date, load, rows }]: readonly [file: string, Measured]): string {
  return `## ${file.replace(".bench.ts", "")}\n\n${where}; ${date}, load ${load} at the start\n\n${toMarkdown(rows)}\n`;
}

/** A page with these sections in place of its own of the same heading. */
function mergeSections(page: string, sections: readonly string[]): string {
  const headingOf = (section: string): string => section.slice(0, section.indexOf("\n"));
  const replaced = new Set(sections.map(headingOf));
  const kept = page.split(/^(?=## )/m).filter((part) => part.startsWith("## ") && !replaced.has(headingOf(part)));
  const all = [...kept.map((part) => `${part.trimEnd()}\n`), ...sections];
  return `# Benchmarks\n\n${all.sort((a, b) => (headingOf(a) < headingOf(b) ? -1 : 1)).join("\n")}`;
}

function toMarkdown(all: readonly BenchRow[]): string {
  const cells = all.map((row) => [
    row.name,
    `${format(row.value)} ${row.unit}`,
    row.aim ?? "",
    row.peer === undefined ? "" : `${row.peer.name}: ${format(row.peer.value)} ${row.unit}`,
    row.ratio === undefined ? "" : row.ratio.toFixed(2),
    row.note ?? "",
  ]);
  const header = ["what", "measured", "aim", "peer in the same run", "ratio", "note"];
  return [header, header.map(() => "---"), ...cells].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function format(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : Number(value.toPrecision(3)).toString();
}
