// Runs one of deploy/bin's helpers: helpers/main.ts <helper> [option ...].
import { CommandError } from "../commands/command.ts";
import { createClient } from "./create-client.ts";
import { createUser } from "./create-user.ts";
import { createWorkspace } from "./create-workspace.ts";
import type { Helper } from "./helper.ts";
import { createTerminal } from "./terminal.ts";

const helpers: Readonly<Record<string, Helper>> = {
  "create-client": createClient,
  "create-user": createUser,
  "create-workspace": createWorkspace,
};

const [name = "", ...args] = process.argv.slice(2);
process.exitCode = await main();

async function main(): Promise<number> {
  const helper = helpers[name];
  if (helper === undefined) {
    console.error(`there is no helper "${name}"; helpers: ${Object.keys(helpers).join(", ")}`);
    return 1;
  }
  try {
    await helper({ args, env: process.env, stdout: process.stdout, terminal: createTerminal(process) });
    return 0;
  } catch (error) {
    const isTheirs =
      error instanceof CommandError ||
      (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
    console.error(
      `${name}: ${isTheirs || !(error instanceof Error) ? messageOf(error) : (error.stack ?? error.message)}`,
    );
    return 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
