// A reporter of `node --test` that says which files took longest, for whoever wants the run to be shorter.
import { relative } from "node:path";
import type { TestEvent } from "node:test/reporters";

const MAX_FILES = 20;

export default async function* listSlowestFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const milliseconds = new Map<string, number>();
  for await (const { type, data } of events) {
    // Only tests at the top of a file count: the others are within them.
    if ((type === "test:pass" || type === "test:fail") && data.nesting === 0 && data.file !== undefined) {
      const file = relative(process.cwd(), data.file);
      milliseconds.set(file, (milliseconds.get(file) ?? 0) + data.details.duration_ms);
    }
  }
  const slowest = [...milliseconds].toSorted(([, a], [, b]) => b - a).slice(0, MAX_FILES);
  if (slowest.length > 1) {
    const lines = slowest.map(([file, duration]) => `${(duration / 1000).toFixed(1).padStart(8)} s  ${file}`);
    yield `\nslowest files (seconds within tests):\n${lines.join("\n")}\n`;
  }
}
