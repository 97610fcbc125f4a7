import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { parseArgs } from "node:util";

import { createRegistryWriter, createRemote, parseReference, pushPackage } from "@swath/oci";
import { Agent } from "undici";

import { PLATFORM_HELP, openSession, platformOption } from "../client/session.ts";
import { readWorkspace } from "../client/workspaces.ts";
import { CommandError, type Command } from "./command.ts";

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
    const workspace = await readWorkspace(session, values.workspace);
    const { url: host, project, username, password } = workspace.container_registry ?? {};
    if (host === undefined || username === undefined || password === undefined) {
      throw new CommandError(
        `${workspace.name} has no project in a registry that you may push to; the platform has no registry, or you only read there`,
      );
    }
    const reference = parseReference(`${host}/${project}/${name}`);
    if (reference === undefined || reference.digest !== undefined) {
      throw new CommandError(`"${name}" is not a name for a package; write NAME:TAG, in small letters`, 2);
    }
    const tag = reference.tag ?? "latest";
    const dispatcher = new Agent({ connect: session.platform.connection });
    try {
      const { protocol } = new URL(session.platform.address);
      const peer = createRemote({
        url: `${protocol}//${host}`,
        dispatcher,
        actions: "pull,push",
        login: { username, password },
      });
      const target = { repository: reference.repository, tag };
      const digest = await pushPackage(createRegistryWriter({ peer }), target, { text, name: basename(path) });
      stderr.write(`pushed, ${digest}\n`);
      stdout.write(`${host}/${reference.repository}:${tag}\n`);
      return 0;
    } finally {
      await dispatcher.destroy();
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
