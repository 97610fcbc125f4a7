// The whole CWL conformance suite with the engine and with Debian's cwltool, a job at a time: with `--full` only, it takes some ten
// minutes.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { row, time } from "./cwl/measure.ts";
import type { BenchRow } from "./types.ts";

const root = join(import.meta.dirname, "..");
const scorer = join(process.env["SWATH_SHARED"] ?? join(root, "../shared"), "cwl-conformance/run");
const cwltool = "/usr/bin/cwltool";

export async function bench(): Promise<BenchRow[]> {
  if (!process.argv.includes("--full") || !existsSync(scorer) || !existsSync(cwltool)) {
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), "cwl-suite-"));
  try {
    const ours = await score(folder, [join(root, "bin/swath"), "cwl", "run", "--no-container"]);
    const peer = await score(folder, [cwltool, "--no-container"]);
    return [
      row("conformance suite, one job at a time", ours, { peer: { name: "cwltool", value: peer }, aim: "≤ 0.2 ×" }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function score(folder: string, command: readonly string[]): Promise<number> {
  const runner = join(folder, "runner");
  writeFileSync(runner, `#!/bin/sh\nexec ${command.map((word) => `'${word}'`).join(" ")} "$@"\n`, { mode: 0o755 });
  return time(async () => {
    await Promise.resolve();
    try {
      execFileSync(scorer, ["--jobs", "1", "--", runner], { stdio: ["ignore", "ignore", "ignore"], cwd: folder });
    } catch {
      // Some tests fail without containers; how many is the conformance test's business, here it is the time.
    }
  });
}
