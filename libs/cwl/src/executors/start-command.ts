import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";

/** A command as the system starts it. Everything is text, so that it can be sent to another process. */
export interface CommandStart {
  readonly command: readonly string[];
  readonly environment: { readonly [name: string]: string };
  readonly directory: string;
  /** Paths. Without one, stdin is empty, and output is piped to whoever starts the command. */
  readonly stdin: string | undefined;
  readonly stdout: string | undefined;
  readonly stderr: string | undefined;
}

/** Why a command could not be started: the system's code, and the path of a stream when it could not be opened. */
export class StartError extends Error {
  readonly code: string;
  readonly path: string | undefined;

  constructor(code: string, message: string, path: string | undefined) {
    super(message);
    this.code = code;
    this.path = path;
  }
}

/**
 * Starts a command in a session of its own: a terminal's signals do not reach it, and one number names all of it.
 * Throws a StartError; other failures come as the child's `error` event.
 */
export function startCommand(start: CommandStart): ChildProcess {
  const files = openStreams(start);
  try {
    const [command = "", ...args] = start.command;
    return spawn(command, args, {
      cwd: start.directory,
      env: start.environment,
      detached: true,
      stdio: [files.stdin, files.stdout, files.stderr],
    });
  } catch (error) {
    throw toStartError(error);
  } finally {
    for (const file of files.all) {
      closeSync(file);
    }
  }
}

export function toStartError(error: unknown, path?: string): StartError {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return new StartError(code, message, path);
}

type Stdio = number | "pipe" | "ignore";

function openStreams(start: CommandStart): { stdin: Stdio; stdout: Stdio; stderr: Stdio; all: number[] } {
  const all: number[] = [];
  const open = (path: string, flags: number): number => {
    try {
      const file = openSync(path, flags, 0o644);
      all.push(file);
      return file;
    } catch (error) {
      for (const file of all) {
        closeSync(file);
      }
      throw toStartError(error, path);
    }
  };
  // Never through a link that an earlier stage put there.
  const create = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
  const stdin = start.stdin === undefined ? "ignore" : open(start.stdin, constants.O_RDONLY);
  const stdout = start.stdout === undefined ? "pipe" : open(start.stdout, create);
  const stderr =
    start.stderr === undefined ? "pipe" : start.stderr === start.stdout ? stdout : open(start.stderr, create);
  return { stdin, stdout, stderr, all };
}
