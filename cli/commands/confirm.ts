import { createTerminal } from "../helpers/terminal.ts";
import { CommandError, type CommandContext } from "./command.ts";

export const YES_OPTION = "  -y, --yes   do not ask; needed where there is no terminal to ask on";

/** Takes `--yes` out of the arguments. */
export function takeYes(args: readonly string[]): { readonly yes: boolean; readonly rest: readonly string[] } {
  const isYes = (arg: string): boolean => arg === "--yes" || arg === "-y";
  return { yes: args.some(isYes), rest: args.filter((arg) => !isYes(arg)) };
}

/**
 * Shows what will be removed and asks for consent on a terminal.
 * @throws {CommandError} without consent; elsewhere than on a terminal unless `yes` was given
 */
export async function confirmRemoval(
  { stdin, stderr }: Pick<CommandContext, "stdin" | "stderr">,
  { yes, removed }: { readonly yes: boolean; readonly removed: readonly string[] },
): Promise<void> {
  if (yes || removed.length === 0) {
    return;
  }
  const list = `This removes:\n${removed.map((line) => `  ${line}\n`).join("")}`;
  const terminal =
    stdin === undefined ? undefined : createTerminal({ stdin, stderr: stderr as NodeJS.Process["stderr"] });
  if (terminal?.isInteractive !== true) {
    throw new CommandError(
      `${list}Nothing was changed: there is no terminal to ask on. Repeat the command with --yes.`,
    );
  }
  terminal.print(list.trimEnd());
  const reply = (await terminal.send("Continue? Type yes: ")).trim().toLowerCase();
  if (reply !== "yes" && reply !== "y") {
    throw new CommandError("Nothing was changed.");
  }
}
