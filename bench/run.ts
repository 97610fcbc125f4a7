// `npm run bench [-- name … --full]`: runs every *.bench.ts (or those whose names hold one of the words), one after another, and
// prints one table. bench/results/ keeps it as Markdown and JSON.
import { globSync, mkdirSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { join } from "node:path";

import type { BenchRow } from "./types.ts";

const wanted = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const files = globSync("*.bench.ts", { cwd: import.meta.dirname })
  .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`no benchmark matches ${wanted.join(", ")}`);
  process.exit(2);
}

const rows: BenchRow[] = [];
let failed = false;
for (const file of files) {
  console.error(`# ${file}`);
  try {
    const { bench } = (await import(join(import.meta.dirname, file))) as { bench: () => Promise<BenchRow[]> };
    rows.push(...(await bench()));
  } catch (error) {
    failed = true;
    console.error(error);
  }
}

const machine = {
  cpu: cpus()[0]?.model.trim() ?? "unknown",
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  kernel: release(),
  node: process.versions.node,
  date: new Date().toISOString().slice(0, 10),
};
const table = toMarkdown(rows);
console.log(table);
const results = join(import.meta.dirname, "results");
mkdirSync(results, { recursive: true });
writeFileSync(join(results, "latest.json"), `${JSON.stringify({ machine, rows }, null, 2)}\n`);
writeFileSync(
  join(results, "latest.md"),
  `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, Node ${machine.node}, ${machine.date}\n\n${table}\n`,
);
process.exit(failed ? 1 : 0);

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
