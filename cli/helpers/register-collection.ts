import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";
import { followTask, reportTask } from "../registration/follow-task.ts";
import {
  REGISTRATION_OPTIONS_USAGE,
  openRegistration,
  registrationOptions,
  toRegistrationOptions,
} from "../registration/registration-session.ts";
import { readText } from "./harvest.ts";
import type { Helper } from "./helper.ts";

const USAGE = `Usage: register-collection <file> [option ...]

Registers a STAC Collection of a JSON file in the resource catalogue and data access; one of the same id is replaced.
${REGISTRATION_OPTIONS_USAGE}`;

/** deploy/bin/register-collection */
export const registerCollection: Helper = async (context) => {
  const { values, positionals } = parseArgs({
    args: [...context.args],
    allowPositionals: true,
    options: registrationOptions,
  });
  if (values.help) {
    context.stdout.write(USAGE);
    return;
  }
  const [file, ...others] = positionals;
  if (file === undefined || others.length > 0) {
    throw new CommandError(`name one file\n\n${USAGE}`);
  }
  const collection = parseJson(await readText(file), file);
  const session = await openRegistration(context, toRegistrationOptions(values));
  const id = await session.accept("/register-collection", collection);
  const task = await followTask(session, id, context.terminal.print);
  context.stdout.write(await reportTask(session, task));
  if (task.state !== "done") {
    throw new CommandError(`${file} was not registered`);
  }
};

/** @throws {CommandError} naming the file */
export function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new CommandError(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}
