import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";

import { CommandError } from "../commands/command.ts";

/** The person at the keyboard, when there is one. */
export interface Terminal {
  readonly isInteractive: boolean;
  readonly send: (question: string) => Promise<string>;
  /** What is typed is not shown. */
  readonly callSecret: (question: string) => Promise<string>;
  /** Progress, on standard error. */
  readonly print: (text: string) => void;
}

interface TerminalStreams {
  readonly stdin: NodeJS.Process["stdin"];
  readonly stderr: NodeJS.WriteStream;
}

export function createTerminal({ stdin, stderr }: TerminalStreams): Terminal {
  const send = async (question: string, isSecret: boolean) => {
    let muted = false;
    const output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        if (!muted) {
          stderr.write(chunk);
        }
        done();
      },
    });
    const lines = createInterface({ input: stdin, output, terminal: stdin.isTTY });
    try {
      // Input that a script sends may end before a line does: nothing was typed then.
      const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
      const response = lines.question(question);
      muted = isSecret;
      return await Promise.race([response, ended]);
    } catch (error) {
      // Ctrl+C or Ctrl+D: the person does not want to answer.
      throw error instanceof Error && error.name === "AbortError"
        ? new CommandError("stopped: nothing was typed")
        : error;
    } finally {
      lines.close();
      if (isSecret) {
        stderr.write("\n");
      }
    }
  };
  return {
    isInteractive: stdin.isTTY && stderr.isTTY,
    send: (question) => send(question, false),
    callSecret: (question) => send(question, true),
    print: (text) => stderr.write(`${text}\n`),
  };
}
