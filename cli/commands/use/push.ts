import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { parseArgs } from "node:util";

import { createRegistryWriter, pushPackage } from "@swath/oci";

import { openProject } from "../../client/registry-project.ts";
import { PLATFORM_HELP, openSession, platformOption } from "../../client/session.ts";
import { CommandError, type Command } from "../command.ts";

const USAGE = `
Usage: swath push FILE.cwl [NAME[:TAG]] [--workspace WORKSPACE]

Pushes an application package to your workspace's project in the platform's registry, and prints the reference that swath run deploys it
by. Without a name it has that of the file, without a tag latest.

  --workspace NAME   another workspace in which you may write
${PLATFORM_HELP}`;

const MAX_PACKAGE_BYTES = 2 << 20;

export const pushCommand: Command = {
  name: "push",
  summary: "push an application package to your workspace's project in the registry",
  usage: USAGE,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { workspace: { type: "string" }, ...platformOption },
    });
    const [path, name = basename(path ?? "", ".cwl"), more] = positionals;
    if (path === undefined || more !== undefined) {
      throw new CommandError(`which file?\n${USAGE}`, 2);
    }
    const text = await readPackage(path);
    const session = await openSession(env, values.platform);
    const project = await openProject(session, { workspace: values.workspace, name });
    try {
      const file = { text, name: basename(path) };
      const digest = await pushPackage(createRegistryWriter({ peer: project.peer }), project.target, file);
      stderr.write(`pushed, ${digest}\n`);
      stdout.write(`${project.reference}\n`);
      return 0;
    } finally {
      await project.close();
    }
  },
};

async function readPackage(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path);
    if (size > MAX_PACKAGE_BYTES) {
      throw new CommandError(`${path} has ${size} bytes; an application package has ${MAX_PACKAGE_BYTES} at most`);
    }
    return await readFile(path);
  } catch (error) {
    throw error instanceof CommandError
      ? error
      : new CommandError(`${path} cannot be read (${(error as Error).message})`);
  }
}
