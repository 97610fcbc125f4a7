import { CommandError } from "./command.ts";

/** `-o json`, of the commands that print for people or for programs. */
export const outputOption = { output: { type: "string", short: "o" } } as const;

/**
 * Whether JSON was asked for.
 * @throws {CommandError} when another format was
 */
export function wantsJson({ output }: { readonly output?: string | undefined }): boolean {
  if (output !== undefined && output !== "json") {
    throw new CommandError(`output "${output}" is not known; allowed: json`, 2);
  }
  return output === "json";
}
