import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { CwlError, messageOf } from "../errors.ts";
import { createProcessExecutor } from "./process.ts";

const execFileAsync = promisify(execFile);
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

/** The command of a container engine, for all but the running of tools. */
export class EngineCommand {
  private readonly command: string;
  readonly environment: { readonly [name: string]: string };
  private readonly processes = createProcessExecutor({ limitMemory: true });

  constructor(command: string, env: { readonly [name: string]: string | undefined }) {
    this.command = command;
    this.environment = Object.fromEntries(
      Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
  }

  /** Runs it and gives its output. Throws `infrastructure` with what it said. */
  async run(
    args: readonly string[],
    signal: AbortSignal,
    what: string,
    limits?: { readonly seconds: number; readonly memoryMiB: number },
  ): Promise<string> {
    if (limits !== undefined) {
      return await this.runLimited(args, signal, what, limits);
    }
    try {
      const { stdout } = await this.execute(args, signal);
      return stdout;
    } catch (error) {
      const { stderr } = error as { stderr?: string };
      throw new CwlError(
        signal.aborted ? "cancelled" : "infrastructure",
        `${what}: ${(stderr ?? "").trim() || messageOf(error)}`,
        { cause: error },
      );
    }
  }

  async succeeds(args: readonly string[], signal: AbortSignal): Promise<boolean> {
    try {
      await this.execute(args, signal);
      return true;
    } catch {
      return false;
    }
  }

  execute(args: readonly string[], signal?: AbortSignal): Promise<{ stdout: string; stderr: string }> {
    return execFileAsync(this.command, args, {
      env: { ...this.environment },
      maxBuffer: MAX_OUTPUT_BYTES,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** With limits of time and memory on it and all that it starts. */
  private async runLimited(
    args: readonly string[],
    signal: AbortSignal,
    what: string,
    { seconds, memoryMiB }: { readonly seconds: number; readonly memoryMiB: number },
  ): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), "cwl-engine-"));
    const id = `swath-${randomUUID()}-0`;
    const stdout = join(folder, "stdout");
    const location = { host: folder, seen: folder };
    try {
      const result = await this.processes.run(
        {
          id,
          name: what,
          command: [this.command, ...args],
          environment: this.environment,
          outdir: location,
          tmpdir: location,
          mounts: [],
          stdin: undefined,
          stdout,
          stderr: undefined,
          container: undefined,
          network: true,
          cores: 1,
          ramMiB: 0,
          ramLimitMiB: memoryMiB,
          timeLimitSeconds: seconds,
        },
        { signal, onLog: () => undefined },
      );
      if (result.timedOut) {
        throw new CwlError("limit", `${what}: it took longer than ${seconds} s and was stopped`);
      }
      if (result.outOfMemory === true) {
        throw new CwlError("limit", `${what}: it used more than ${memoryMiB} MiB and was stopped`);
      }
      if (result.exitCode !== 0) {
        throw new CwlError("infrastructure", `${what}: ${result.logTail.trim()}`);
      }
      return readFileSync(stdout, "utf8");
    } finally {
      await this.processes.cleanUp?.([id.slice(0, -1)]);
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
