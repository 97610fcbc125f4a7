// What the comparison with the reference runner on public repositories is made of: their documents, the job files that fit
// them, and both runners, each without network and without a place to write but one folder.
import { spawn } from "node:child_process";
import { globSync, readFileSync, statSync } from "node:fs";
import { createInterface } from "node:readline";
import { dirname, join } from "node:path";

import type { LoadedDocument } from "@swath/cwl";
import { describeProcess } from "@swath/cwl";
import { parse } from "yaml";

const MAX_JOB_BYTES = 100_000;
const MAX_JOBS = 3;

export interface Verdict {
  readonly code: unknown;
  readonly out: string;
  readonly said: string;
}

/** Everything of the machine read-only, no network, and one folder to write in. */
export function fenced(scratch: string, command: readonly string[]): string[] {
  const fence = "--ro-bind / / --dev /dev --proc /proc --tmpfs /run --unshare-net --unshare-pid --die-with-parent";
  return ["bwrap", ...fence.split(" "), "--bind", scratch, scratch, "--setenv", "TMPDIR", scratch, "--", ...command];
}

export function findDocuments(folder: string): string[] {
  return globSync("**/*.cwl", { cwd: folder })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .toSorted();
}

/** The reference runner, whose module is loaded once. */
export class ReferenceRunner {
  private readonly child;
  private readonly waiting = new Map<number, (verdict: Verdict) => void>();
  private next = 0;

  constructor(python: string, scratch: string) {
    const [file = "", ...args] = fenced(scratch, [python, join(import.meta.dirname, "reference-runner.py")]);
    this.child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"], cwd: scratch });
    createInterface(this.child.stdout).on("line", (line) => {
      const { id, ...verdict } = JSON.parse(line) as Verdict & { readonly id: number };
      this.waiting.get(id)?.(verdict);
      this.waiting.delete(id);
    });
    this.child.once("close", () => {
      for (const response of this.waiting.values()) {
        response({ code: "ended", out: "", said: "the reference runner ended" });
      }
      this.waiting.clear();
    });
  }

  async send(args: readonly string[], cwd: string, seconds: number): Promise<Verdict> {
    const id = (this.next += 1);
    return await new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.child.stdin.write(`${JSON.stringify({ id, args, cwd, seconds })}\n`);
    });
  }

  close(): void {
    this.child.stdin.end();
  }
}

/** Runs a command behind the fence. */
export async function runFenced(
  scratch: string,
  command: readonly string[],
  cwd: string,
  seconds: number,
): Promise<Verdict> {
  const [file = "", ...args] = fenced(scratch, command);
  const child = spawn(file, args, { cwd, stdio: ["ignore", "pipe", "pipe"], timeout: seconds * 1000 });
  let out = "";
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => (out += piece));
  child.stderr.setEncoding("utf8").on("data", (piece: string) => (said = (said + piece).slice(-2000)));
  const code = await new Promise<unknown>((resolve) => {
    child.once("close", (status, signal) => resolve(signal === null ? status : "too long"));
  });
  return { code, out, said };
}

/** Job files near a document whose names are inputs of it and hold all that it must have; undefined stands for none needed. */
export function jobsFor(path: string, document: LoadedDocument): (string | undefined)[] {
  const { inputs } = describeProcess(document);
  const names = new Set(inputs.map(({ name }) => name));
  const required = inputs.filter((input) => input.required).map(({ name }) => name);
  const stem = path.slice(path.lastIndexOf("/") + 1).replace(/\.cwl$/, "");
  const fitting = globSync("{,*job*/,*input*/,test*/,example*/,../*job*/,../*input*/}*.{yml,yaml,json}", {
    cwd: dirname(path),
  })
    .map((file) => join(dirname(path), file))
    .filter((file) => {
      const keys = keysOf(file).filter((key) => !/^(?:cwl|cwltool):|^\$/.test(key));
      return keys.length > 0 && keys.every((key) => names.has(key)) && required.every((key) => keys.includes(key));
    })
    .toSorted((a, b) => Number(b.includes(stem)) - Number(a.includes(stem)) || a.localeCompare(b))
    .slice(0, MAX_JOBS);
  return required.length === 0 ? [undefined, ...fitting] : fitting;
}

const known = new Map<string, string[]>();

function keysOf(file: string): string[] {
  let keys = known.get(file);
  if (keys === undefined) {
    keys = readKeys(file);
    known.set(file, keys);
  }
  return keys;
}

function readKeys(file: string): string[] {
  try {
    if (statSync(file).size > MAX_JOB_BYTES) {
      return [];
    }
    const value: unknown = parse(readFileSync(file, "utf8"));
    return typeof value === "object" && value !== null && !Array.isArray(value) && !("cwlVersion" in value)
      ? Object.keys(value)
      : [];
  } catch {
    // Templates and broken files are no jobs.
    return [];
  }
}
