import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { wrapInBubblewrap } from "./bubblewrap.ts";
import { type Obstacle, findRemedy } from "./find-remedy.ts";
import { findProgram } from "./find-program.ts";
import type { Isolation, Sandbox } from "./sandbox.ts";
import { findFilter, listFilterLoaders } from "./system-calls.ts";
import { PARTS, type UtilLinux, wrapInUtilLinux } from "./util-linux.ts";

/** Whether programs of this machine can be kept from the rest of it, and how; or why not. */
export type IsolationReport =
  | { readonly works: true; readonly isolation: Isolation }
  | {
      readonly works: false;
      readonly obstacle: Obstacle;
      /** What each way said, in one sentence. */
      readonly reason: string;
      /** What an operator types; works with the next request, without a restart. */
      readonly command: string;
    };

interface IsolationOptions {
  /** Name or path of bubblewrap. */
  readonly bubblewrap?: string;
  /** The one way that may be used, where not both may. */
  readonly only?: Isolation["kind"];
}

/** A failure is not looked into again for so long; it costs a few milliseconds. */
const FAILED_MS = 1000;
const TRIAL_MS = 10_000;
const found = new Map<string, { readonly report: IsolationReport; readonly at: number }>();

/**
 * Tries what can isolate programs: bubblewrap first, which starts fastest, then util-linux. What works is remembered; what does not
 * is tried again, so that an operator's repair counts at once.
 */
export function findIsolation({ bubblewrap = "bwrap", only }: IsolationOptions = {}): IsolationReport {
  const key = `${only} ${bubblewrap}`;
  const known = found.get(key);
  if (known !== undefined && (known.report.works || Date.now() - known.at < FAILED_MS)) {
    return known.report;
  }
  const report = tryAll(bubblewrap, only);
  found.set(key, { report, at: Date.now() });
  return report;
}

function tryAll(bubblewrap: string, only: Isolation["kind"] | undefined): IsolationReport {
  const failures: string[] = [];
  for (const kind of (["bubblewrap", "util-linux"] as const).filter((each) => only === undefined || each === only)) {
    const result = kind === "bubblewrap" ? tryBubblewrap(bubblewrap) : tryUtilLinux();
    if (typeof result !== "string") {
      return { works: true, isolation: result };
    }
    failures.push(`${kind}: ${result}`);
  }
  return { works: false, ...findRemedy(), reason: failures.join("; ") };
}

/** @returns why it does not work, where it does not */
function tryBubblewrap(name: string): Isolation | string {
  const program = findProgram([name]);
  if (program === undefined) {
    return "it is not installed";
  }
  const make = (filter: string | undefined): Isolation => ({
    kind: "bubblewrap",
    filtersSystemCalls: filter !== undefined,
    wrap: (sandbox, inner) => wrapInBubblewrap({ program, filter }, sandbox, inner),
  });
  const plain = make(undefined);
  const filter = findFilter();
  return tryOut(plain) ?? addFilter(plain, filter === undefined ? [] : [make(filter)]);
}

/** The first of these that works: a kernel may be without filters, or there may be nothing that loads them. */
function addFilter(plain: Isolation, filtered: readonly Isolation[]): Isolation {
  return filtered.find((each) => tryOut(each) === undefined) ?? plain;
}

function tryUtilLinux(): Isolation | string {
  const missing = PARTS.filter((name) => findProgram([name]) === undefined);
  if (missing.length > 0) {
    return `this machine has no ${missing.join(", ")}`;
  }
  const loopbacks = (["sysfs", "ip", "perl"] as const).filter(
    (name) => name === "sysfs" || findProgram([name]) !== undefined,
  );
  let why = "";
  // Root can do without user name spaces, an ordinary user cannot.
  for (const hasUserNamespaces of process.getuid?.() === 0 ? [true, false] : [true]) {
    for (const loopback of loopbacks) {
      const plain = toIsolation({ hasUserNamespaces, loopback, filter: undefined });
      const failure = tryOut(plain);
      if (failure === undefined) {
        const path = findFilter();
        const loaders = path === undefined ? [] : listFilterLoaders().map((loader) => ({ path, loader }));
        return addFilter(
          plain,
          loaders.map((filter) => toIsolation({ hasUserNamespaces, loopback, filter })),
        );
      }
      why ||= failure;
    }
  }
  return why;
}

const toIsolation = (parts: UtilLinux): Isolation => ({
  kind: "util-linux",
  filtersSystemCalls: parts.filter !== undefined,
  wrap: (sandbox, inner) => wrapInUtilLinux(parts, sandbox, inner),
});

/** Runs a command that does nothing, with a network that must be up. @returns why it failed, where it did */
function tryOut({ wrap }: Isolation): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), "swath-sandbox-"));
  const sandbox: Sandbox = {
    scratch: { bytes: 2 ** 20 },
    view: [],
    workdir: "/",
    limits: { processes: 4096, openFiles: 64 },
    file: join(folder, "trial"),
  };
  try {
    const check = "while read -r name rest; do case $name in *lo:*) exit 0;; esac; done </proc/net/dev; exit 1";
    const { command, environment } = wrap(sandbox, { command: ["/bin/sh", "-c", check], environment: {} });
    const [program = "", ...args] = command;
    const { error, status, stderr } = spawnSync(program, args, {
      env: environment,
      stdio: ["ignore", "ignore", "pipe"],
      timeout: TRIAL_MS,
    });
    if (error === undefined && status === 0) {
      return undefined;
    }
    const [said = ""] = stderr.toString().trim().split("\n");
    return (error?.message ?? (said || `it ended with status ${status}`)).slice(0, 300);
  } catch (error) {
    return (error as Error).message.slice(0, 300);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
