import type { Terminal } from "./terminal.ts";

/** What a helper gets from the world. */
export interface HelperContext {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: { readonly write: (text: string) => unknown };
  readonly terminal: Terminal;
}

/** One of deploy/bin's helpers. @throws {CommandError} what the person who typed it can mend; ends with status 1 */
export type Helper = (context: HelperContext) => Promise<void>;
