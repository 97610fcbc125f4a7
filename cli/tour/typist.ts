import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

import { CommandError } from "../commands/command.ts";
import { repositoryRoot } from "../targets/embedded/launch/code-version.ts";
import { shorten } from "./shorten.ts";

/** Types commands at a terminal of one of several people, each with a login of the own, and shows what they answer. */
export interface Typist {
  /** Begins a numbered step; `advice` is what to do when a command of it fails. */
  readonly step: (title: string, advice: string) => void;
  readonly print: (text: string) => void;
  /**
   * Types a command into a shell at the root of the checkout.
   * @returns what it printed to standard output, without the last line feed
   * @throws {CommandError} naming step and advice when it fails; with `fails`, when it does not
   */
  readonly type: (person: string, command: string, options?: TypeOptions) => Promise<string>;
  /** Types a command again and again until it is done, or is refused where `fails` says so: rights need a moment to be everywhere. */
  readonly typeUntil: (person: string, command: string, options?: TypeOptions) => Promise<string>;
}

interface TypeOptions {
  /** The command is to be refused, with these words. */
  readonly fails?: RegExp;
  /** What a success has to print. */
  readonly prints?: RegExp;
}

interface TypistOptions {
  readonly stdout: { readonly write: (text: string) => unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly env: NodeJS.ProcessEnv;
  /** Where people's logins are kept. */
  readonly folder: string;
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  /** Both outputs, as they came. */
  readonly all: string;
}

const TIMEOUT_MS = 60_000;
const PAUSE_MS = 500;
/** A command that says nothing for so long is stuck. */
const COMMAND_MS = 300_000;

export function createTypist({ stdout, env, folder }: TypistOptions): Typist {
  const style = (code: number) => (text: string) => (stdout.isTTY ? `\u001B[${code}m${text}\u001B[0m` : text);
  const [strong, soft] = [style(1), style(2)];
  let steps = 0;
  let current = { title: "", advice: "" };

  const run = (person: string, command: string): Promise<Ended> => {
    const home = join(folder, person);
    mkdirSync(home, { recursive: true, mode: 0o700 });
    return runShell(command, { ...env, XDG_CONFIG_HOME: home, TOUR: folder });
  };
  const show = (person: string, command: string, { all }: Ended): void => {
    stdout.write(`\n${strong(`${person}$`)} ${command}\n${soft(shorten(all, stdout.columns ?? 120))}`);
  };
  const check = (command: string, { status, stdout: printed, all }: Ended, options: TypeOptions): string => {
    const trouble = findTrouble({ status, printed, all }, options);
    if (trouble !== undefined) {
      throw new CommandError(
        `step ${steps}, "${current.title}": ${trouble}\n  ${command}\n${indent(all)}  -> ${current.advice}`,
      );
    }
    return printed.replace(/\n$/, "");
  };
  return {
    step: (title, advice) => {
      steps += 1;
      current = { title, advice };
      stdout.write(`\n${strong(`${steps}. ${title}`)}\n`);
    },
    print: (text) => void stdout.write(`\n${text}\n`),
    type: async (person, command, options = {}) => {
      const ended = await run(person, command);
      show(person, command, ended);
      return check(command, ended, options);
    },
    typeUntil: async (person, command, options = {}) => {
      for (const deadline = Date.now() + TIMEOUT_MS; ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
        const ended = await run(person, command);
        const isDone =
          findTrouble({ status: ended.status, printed: ended.stdout, all: ended.all }, options) === undefined;
        if (isDone || Date.now() > deadline) {
          show(person, command, ended);
          return check(command, ended, options);
        }
      }
    },
  };
}

function findTrouble(
  { status, printed, all }: { readonly status: number | null; readonly printed: string; readonly all: string },
  { fails, prints }: TypeOptions,
): string | undefined {
  if (fails !== undefined) {
    return status === 0
      ? "this was to be refused, and was not:"
      : fails.test(all)
        ? undefined
        : "this failed otherwise than expected:";
  }
  if (status !== 0) {
    return status === null ? "this did not end:" : `this ended with ${status}:`;
  }
  return prints === undefined || prints.test(printed.trimEnd())
    ? undefined
    : "this answered something else than expected:";
}

const indent = (text: string): string =>
  text
    .trimEnd()
    .split("\n")
    .slice(-20)
    .map((line) => `  ${line}\n`)
    .join("");

function runShell(command: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const shell = spawn("sh", ["-c", command], {
      cwd: repositoryRoot,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: COMMAND_MS,
    });
    let [stdout, all] = ["", ""];
    shell.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      all += text;
    });
    shell.stderr.setEncoding("utf8").on("data", (text: string) => {
      all += text;
    });
    shell.once("error", reject);
    shell.once("close", (status) => resolve({ status, stdout, all }));
  });
}
