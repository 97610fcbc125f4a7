import { readFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { CommandError } from "../commands/command.ts";
import { followTask } from "../registration/follow-task.ts";
import {
  REGISTRATION_OPTIONS_USAGE,
  type RegistrationSession,
  openRegistration,
  registrationOptions,
  toRegistrationOptions,
} from "../registration/registration-session.ts";
import type { Helper } from "./helper.ts";
import { parseJson } from "./register-collection.ts";

const USAGE = `Usage: load-records <folder> [option ...]

Registers every metadata record below a folder: ISO 19139 and Dublin Core in .xml files, STAC and OGC records in .json and
.geojson files. Records of the same id are replaced. Ends with status 1 when one could not be registered.
${REGISTRATION_OPTIONS_USAGE}`;

/** Records that are sent and followed at the same time. */
const CONCURRENCY = 8;
const RECORD = /\.(?:xml|json|geojson)$/i;
const MAX_BYTES = 8 * 2 ** 20;

/** deploy/bin/load-records */
export const loadRecords: Helper = async (context) => {
  const { values, positionals } = parseArgs({
    args: [...context.args],
    allowPositionals: true,
    options: registrationOptions,
  });
  if (values.help) {
    context.stdout.write(USAGE);
    return;
  }
  const [folder, ...others] = positionals;
  if (folder === undefined || others.length > 0) {
    throw new CommandError(`name one folder\n\n${USAGE}`);
  }
  const files = await listRecords(folder);
  const session = await openRegistration(context, toRegistrationOptions(values));
  const failures: string[] = [];
  let done = 0;
  const pending = files.values();
  const work = async (): Promise<void> => {
    for (const file of pending) {
      const failure = await loadRecord(session, file);
      if (failure !== undefined) {
        failures.push(failure);
        context.terminal.print(failure);
      }
      done += 1;
      if (done % 500 === 0) {
        context.terminal.print(`${done} of ${files.length} records`);
      }
    }
  };
  // The first asks for a login, where one is needed; the others use it.
  const [first] = files;
  if (first !== undefined) {
    await session.request("GET", "/tasks?limit=1");
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  context.stdout.write(`${files.length - failures.length} of ${files.length} records registered\n`);
  if (failures.length > 0) {
    throw new CommandError(`${failures.length} records were not registered; the lines above say why`);
  }
};

async function listRecords(folder: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder, { recursive: true });
    return names
      .filter((name) => RECORD.test(name))
      .toSorted()
      .map((name) => join(folder, name));
  } catch (error) {
    throw new CommandError(`${folder} cannot be read: ${(error as Error).message}`);
  }
}

/** @returns why the file's record was not registered */
async function loadRecord(session: RegistrationSession, file: string): Promise<string | undefined> {
  try {
    const { size } = await stat(file);
    if (size > MAX_BYTES) {
      return `${file}: has ${size} bytes; a record has ${MAX_BYTES} at most`;
    }
    const text = await readFile(file, "utf8");
    const id = /\.xml$/i.test(file)
      ? await session.accept("/register-xml", text, "application/xml")
      : await session.accept("/register-json", parseJson(text, file));
    const { state, reason } = await followTask(session, id, () => {});
    return state === "done" || state === "superseded" ? undefined : `${file}: ${reason ?? state}`;
  } catch (error) {
    if (error instanceof CommandError) {
      return `${file}: ${error.message}`;
    }
    throw error;
  }
}
