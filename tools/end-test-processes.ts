import { existsSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { readProcesses } from "../libs/testing/src/read-processes.ts";

/** Every process of a run of tests inherits this variable, and the supervisors of its clusters as well: they outlive a Ctrl-C. */
export const TEST_RUN = "SWATH_TEST_RUN";

/** Its source, or its bundle. */
const SUPERVISOR = /\bcli[./]targets[./]embedded[./]supervisor\b/;
const main = join(import.meta.dirname, "../cli/main.ts");

/** Ends what an interrupted run of tests left: deletes its clusters with their folders, then kills the rest of its processes. */
export function endTestProcesses(run: string): void {
  for (const { args, env } of findProcesses(run).filter((each) => SUPERVISOR.test(each.args))) {
    const cluster = args.slice(args.lastIndexOf(" ") + 1);
    spawnSync(process.execPath, [main, "cluster", "delete", cluster, "--yes"], { env, stdio: "ignore" });
    removeState(env["SWATH_STATE_DIR"]);
  }
  for (const { pid } of findProcesses(run)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") {
        throw error;
      }
    }
  }
}

interface MarkedProcess {
  readonly pid: number;
  readonly args: string;
  readonly env: NodeJS.ProcessEnv;
}

function findProcesses(run: string): readonly MarkedProcess[] {
  return readProcesses().flatMap(({ pid, args }) => {
    const env = pid === process.pid ? {} : readEnvironment(pid);
    return env[TEST_RUN] === run ? [{ pid, args, env }] : [];
  });
}

/** Empty for processes of others, and for one that has ended. */
function readEnvironment(pid: number): NodeJS.ProcessEnv {
  try {
    const entries = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return Object.fromEntries(entries.filter(Boolean).map((entry) => splitAt(entry, entry.indexOf("="))));
  } catch {
    return {};
  }
}

const splitAt = (entry: string, index: number): [string, string] => [entry.slice(0, index), entry.slice(index + 1)];

/** Only a folder that a test made: the operator's own state is elsewhere. */
function removeState(folder = ""): void {
  if (folder.startsWith(`${tmpdir()}/`) && basename(folder).startsWith("swath-") && existsSync(folder)) {
    rmSync(folder, { recursive: true, force: true });
  }
}
