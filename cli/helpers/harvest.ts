import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";
import { followTask, reportTask } from "../registration/follow-task.ts";
import {
  REGISTRATION_OPTIONS_USAGE,
  openRegistration,
  registrationOptions,
  toRegistrationOptions,
} from "../registration/registration-session.ts";
import type { Helper } from "./helper.ts";

const USAGE = `Usage: harvest <config-file> [<name>] [option ...]

Keeps the harvester of a configuration file (YAML or JSON) and runs it once; its progress goes to standard error. Ends with
status 1 when records could not be registered. Stopping this does not stop the harvest.

  <name>               which harvester of the file (default: the only one, or "Custom-Config")
  --no-wait            start it only${REGISTRATION_OPTIONS_USAGE}`;

/** deploy/bin/harvest */
export const harvest: Helper = async (context) => {
  const { values, positionals } = parseArgs({
    args: [...context.args],
    allowPositionals: true,
    options: { ...registrationOptions, "no-wait": { type: "boolean" } },
  });
  if (values.help) {
    context.stdout.write(USAGE);
    return;
  }
  const [file, name, ...others] = positionals;
  if (file === undefined || others.length > 0) {
    throw new CommandError(`name one configuration file\n\n${USAGE}`);
  }
  const config = await readText(file);
  const session = await openRegistration(context, toRegistrationOptions(values));
  const id = await session.accept("/harvest", { config, ...(name !== undefined && { name }) });
  if (values["no-wait"]) {
    context.stdout.write(`started task ${id}: ${session.url}/tasks/${id}\n`);
    return;
  }
  const task = await followTask(session, id, context.terminal.print);
  context.stdout.write(await reportTask(session, task));
  if (task.state !== "done" || (task.result?.failed ?? 0) > 0) {
    throw new CommandError("not everything was harvested; mend what is named above, then run this again");
  }
};

/** A file's text. @throws {CommandError} */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
