import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { PLATFORM_HELP, type Session, openSession, platformOption } from "../../client/session.ts";
import { CommandError, type Command } from "../command.ts";

const USAGE = `
Usage: swath notebook [FILE.ipynb] [options]

Starts a server of the application hub, or finds it running, and prints the address to open in a browser.

  --profile NAME   what is started (default: notebooks in the browser)
  --server NAME    its name (default: notebook)
  --stop           stop it
${PLATFORM_HELP}

FILE is one of the example notebooks (1-find-and-look.ipynb, 5-read-a-result.ipynb, …) or one that you keep there.`;

const POLL_MS = 300;
const TIMEOUT_MS = 120_000;

interface ServerModel {
  readonly ready: boolean;
  readonly pending: string | null;
  readonly swath?: { readonly opens: string; readonly end_reason: string | null };
}

export const notebookCommand: Command = {
  name: "notebook",
  summary: "start a notebook server and print its address",
  usage: USAGE,
  run: async ({ args, env, stdout, stderr }) => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        profile: { type: "string", default: "jupyterlite" },
        server: { type: "string", default: "notebook" },
        stop: { type: "boolean", default: false },
        ...platformOption,
      },
    });
    const [file, more] = positionals;
    if (more !== undefined) {
      throw new CommandError("notebook takes one file", 2);
    }
    const session = await openSession(env, values.platform);
    const user = `${session.address("application-hub")}/hub/api/users/${encodeURIComponent(session.user)}`;
    const path = `${user}/servers/${encodeURIComponent(values.server)}`;
    if (values.stop) {
      await session.request(path, { method: "DELETE", json: { remove: true } });
      stdout.write(`stopped ${values.server}\n`);
      return 0;
    }
    if ((await findServer(session, user, values.server)) === undefined) {
      await session.request(path, { method: "POST", json: { profile: values.profile } });
      stderr.write(`started ${values.server}\n`);
    }
    const opens = new URL(await waitUntilReady(session, user, values.server));
    if (file !== undefined) {
      opens.searchParams.set("path", file);
    }
    stdout.write(`${opens.href}\n`);
    return 0;
  },
};

/** The server where it runs or is starting. */
async function findServer(session: Session, user: string, name: string): Promise<ServerModel | undefined> {
  const { servers } = (await (await session.request(user)).json()) as { servers: Record<string, ServerModel> };
  return Object.hasOwn(servers, name) ? servers[name] : undefined;
}

async function waitUntilReady(session: Session, user: string, name: string): Promise<string> {
  for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(POLL_MS)) {
    const server = await findServer(session, user, name);
    if (server === undefined) {
      break;
    }
    if (server.ready && server.swath !== undefined) {
      return server.swath.opens;
    }
  }
  throw new CommandError(`the server ${name} did not start; ${session.address("application-hub")}/hub/home says why`);
}
