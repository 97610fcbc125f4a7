import { type RegistryClient, createRegistryClient, createRemote, locate, parseReference } from "@swath/oci";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";

import { CommandError } from "../commands/command.ts";
import type { Session } from "./session.ts";
import { readWorkspace } from "./workspaces.ts";

/** A place in the project that a workspace has in the platform's registry. */
export interface RegistryProject {
  /** Host and port. */
  readonly host: string;
  readonly project: string;
  readonly target: { readonly repository: string; readonly tag: string };
  /** `registry.eo.example.org/ws-eric/ndvi:1`. */
  readonly reference: string;
  readonly peer: ReturnType<typeof createRemote>;
  /** Reads from the platform's registry with the workspace's login, from another one as nobody. */
  readonly clientOf: (host: string) => RegistryClient;
  readonly close: () => Promise<void>;
}

interface ProjectOptions {
  /** The user's own when left out. */
  readonly workspace: string | undefined;
  /** `NAME[:TAG]` */
  readonly name: string;
}

/** @throws {CommandError} where the workspace has no project that the user may push to, or the name is none */
export async function openProject(session: Session, { workspace, name }: ProjectOptions): Promise<RegistryProject> {
  const found = await readWorkspace(session, workspace);
  const { url: host, project, username, password } = found.container_registry ?? {};
  if (host === undefined || project === undefined || username === undefined || password === undefined) {
    throw new CommandError(
      `${found.name} has no project in a registry that you may push to; the platform has no registry, or you only read there`,
    );
  }
  const reference = parseReference(`${host}/${project}/${name}`);
  if (reference === undefined || reference.digest !== undefined) {
    throw new CommandError(`"${name}" is not a name here; write NAME:TAG, in small letters`, 2);
  }
  const { repository, tag = "latest" } = reference;
  const { connection, address } = session.platform;
  const dispatcher: Dispatcher = "proxies" in connection ? new EnvHttpProxyAgent() : new Agent({ connect: connection });
  const { protocol } = new URL(address);
  const login = { username, password };
  return {
    host,
    project,
    target: { repository, tag },
    reference: `${host}/${repository}:${tag}`,
    peer: createRemote({ url: `${protocol}//${host}`, dispatcher, actions: "pull,push", login }),
    clientOf: (other) =>
      createRegistryClient({
        peer: createRemote({
          url: other === host ? `${protocol}//${host}` : `https://${locate({ ...reference, host: other }).host}`,
          dispatcher,
          actions: "pull",
          ...(other === host && { login }),
        }),
      }),
    close: () => dispatcher.destroy(),
  };
}
