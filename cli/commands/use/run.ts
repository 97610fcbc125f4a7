import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parseArgs } from "node:util";

import { followJob, processingOf, toInputs, toItemAddress } from "../../client/processing.ts";
import { PLATFORM_HELP, type Session, openSession, platformOption } from "../../client/session.ts";
import { CommandError, type Command, type CommandContext } from "../command.ts";
import { readAll } from "./read-all.ts";

const USAGE = `
Usage: swath run PROCESS|FILE.cwl|REFERENCE [NAME=VALUE …] [options]

Runs a process next to the data and waits for it. A CWL file, or a package of the registry by its reference (registry.eo.example.org/ws-eric/ndvi:2,
see swath push), is deployed first, or replaces the process of its name. A scene as an input is what swath search shows, COLLECTION/ITEM; a file is an
address that the platform can read (s3://ws-eric/scenes/item.json; swath cp puts files there). Prints the job's id.

  --inputs FILE   inputs as a JSON object; - reads them from standard input
  --no-wait       do not wait for the end
${PLATFORM_HELP}

Ends with 1 when the job fails. Results: swath results JOB`;

export const runCommand: Command = {
  name: "run",
  summary: "run a process or an application package on a platform",
  usage: USAGE,
  run: async (context) => {
    const { args, env, stdout, stderr } = context;
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { inputs: { type: "string" }, "no-wait": { type: "boolean", default: false }, ...platformOption },
    });
    const [what, ...typed] = positionals;
    if (what === undefined) {
      throw new CommandError(`which process?\n${USAGE}`, 2);
    }
    const session = await openSession(env, values.platform);
    const isPackage = what.endsWith(".cwl") || existsSync(what) || isReference(what);
    const id = isPackage ? await deployPackage(session, what, stderr) : what;
    const process = `${processingOf(session)}/processes/${encodeURIComponent(id)}`;
    const description = (await (await session.request(process)).json()) as Parameters<typeof toInputs>[0];
    const inputs = {
      ...(values.inputs !== undefined && (await readInputs(context, values.inputs))),
      ...toInputs(description, typed, (scene) => toItemAddress(session, scene)),
    };
    const response = await session.request(`${process}/execution`, {
      method: "POST",
      headers: { prefer: "respond-async" },
      json: { inputs },
    });
    const { jobID } = (await response.json()) as { jobID: string };
    stdout.write(`${jobID}\n`);
    if (values["no-wait"]) {
      return 0;
    }
    const job = await followJob(session, jobID, ({ status, progress = 0, message }) => {
      stderr.write(`${status}, ${progress} %${message === undefined ? "" : `: ${message}`}\n`);
    });
    if (job.status !== "successful") {
      stderr.write(`What it said: swath jobs ${jobID} --log\n`);
      return 1;
    }
    stderr.write(`Its files: swath results ${jobID}\n`);
    return 0;
  },
};

/** Deploys a package, or puts it in the place of the one with its id; gives the id. */
async function deployPackage(session: Session, path: string, stderr: NodeJS.WriteStream): Promise<string> {
  const sent = isReference(path)
    ? { json: { executionUnit: { href: path, type: "application/cwl" } } }
    : { headers: { "content-type": "application/cwl" }, body: await readPackage(path) };
  const processes = `${processingOf(session)}/processes`;
  const response = await session.request(processes, { method: "POST", ...sent, fine: [409] });
  const said = (await response.json()) as { id?: string; detail?: string };
  if (response.status !== 409) {
    stderr.write(`deployed ${said.id}\n`);
    return said.id ?? "";
  }
  const [, id] = /^Process (\S+) is deployed already/.exec(said.detail ?? "") ?? [];
  if (id === undefined) {
    throw new CommandError(`the package was refused: ${said.detail}`);
  }
  await session.request(`${processes}/${encodeURIComponent(id)}`, { method: "PUT", ...sent });
  stderr.write(`replaced ${id}\n`);
  return id;
}

/** `host/project/name:tag`, and no file of that name. */
const isReference = (what: string): boolean =>
  /^(?:oci:\/\/)?[\w.-]+(?::\d+)?(?:\/[\w.-]+){2,}(?::[\w.-]+|@sha256:[0-9a-f]{64})?$/.test(what) &&
  /[.:]/.test(what.split("/")[0] ?? "") &&
  !existsSync(what);

const readPackage = (path: string): Promise<Buffer> =>
  readFile(path).catch((error: unknown) => {
    throw new CommandError(`${path} cannot be read (${(error as Error).message})`);
  });

async function readInputs({ stdin }: CommandContext, path: string): Promise<Record<string, unknown>> {
  const text =
    path === "-"
      ? await readAll(stdin)
      : await readFile(path, "utf8").catch((error: unknown) => {
          throw new CommandError(`${path} cannot be read (${(error as Error).message})`);
        });
  try {
    const inputs = JSON.parse(text) as unknown;
    if (typeof inputs === "object" && inputs !== null && !Array.isArray(inputs)) {
      return inputs as Record<string, unknown>;
    }
  } catch (error) {
    throw new CommandError(`${path} is not JSON: ${(error as Error).message}`, 2);
  }
  throw new CommandError(`${path} is not a JSON object of inputs`, 2);
}
