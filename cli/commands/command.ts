/** What a command gets from the world. */
export interface CommandContext {
  /** Arguments after the command's name. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where a person can be asked; left out where there is nobody. */
  readonly stdin?: NodeJS.Process["stdin"];
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
}

/** One word after `swath`. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Text of `swath <name> --help`: usage line first. */
  readonly usage: string;
  /** Whether it prints the help of the words that follow its name by itself. */
  readonly hasWords?: true;
  /** Resolves with the exit status: 0 done, 1 failed, 2 usage error. */
  readonly run: (context: CommandContext) => Promise<number>;
}

/** A mistake of the person who typed the command: shown as it is, without a stack, and ends with `status`. */
export class CommandError extends Error {
  override readonly name = "CommandError";
  readonly status: number;

  constructor(message: string, status = 1) {
    super(message);
    this.status = status;
  }
}
