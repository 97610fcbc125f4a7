// Runs one of deploy/bin's helpers: helpers/main.ts <helper> [option ...].
import { CommandError } from "../commands/command.ts";
import { openTarget } from "../targets/open-target.ts";
import { createClient } from "./create-client.ts";
import { createUser } from "./create-user.ts";
import { createWorkspace } from "./create-workspace.ts";
import type { Helper } from "./helper.ts";
import { harvest } from "./harvest.ts";
import { loadRecords } from "./load-records.ts";
import { registerCollection } from "./register-collection.ts";
import { protection } from "./login-service/protection.ts";
import { registerClientHelper } from "./login-service/register-client.ts";
import { createTerminal } from "./terminal.ts";

const helpers: Readonly<Record<string, Helper>> = {
  "create-client": createClient,
  "create-user": createUser,
  "create-workspace": createWorkspace,
  harvest,
  "load-records": loadRecords,
  "register-client": registerClientHelper,
  "register-collection": registerCollection,
  "swath-protection.sh": protection,
};

const [name = "", ...typed] = process.argv.slice(2);
process.exitCode = await main();

async function main(): Promise<number> {
  const helper = Object.hasOwn(helpers, name) ? helpers[name] : undefined;
  if (helper === undefined) {
    console.error(`there is no helper "${name}"; helpers: ${Object.keys(helpers).join(", ")}`);
    return 1;
  }
  try {
    const { cluster, args } = takeCluster(typed);
    if (cluster !== undefined) {
      // One that does not exist is an error here, not a deployment elsewhere.
      openTarget(cluster, process.env);
    }
    const env = cluster === undefined ? process.env : { ...process.env, SWATH_CLUSTER: cluster };
    await helper({ args, env, stdout: process.stdout, terminal: createTerminal(process) });
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

/** Every helper takes `--cluster NAME`: whose addresses and administrator are used. */
function takeCluster(words: readonly string[]): { readonly cluster?: string; readonly args: readonly string[] } {
  const at = words.findIndex((word) => word === "--cluster" || word.startsWith("--cluster="));
  const word = words[at];
  if (word === undefined) {
    return { args: words };
  }
  const isJoined = word !== "--cluster";
  const cluster = isJoined ? word.slice("--cluster=".length) : words[at + 1];
  if (cluster === undefined || cluster === "") {
    throw new CommandError("--cluster needs the name of a cluster (swath cluster list)");
  }
  return { cluster, args: words.toSpliced(at, isJoined ? 1 : 2) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
