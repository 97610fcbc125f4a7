import { CommandError } from "../commands/command.ts";
import type { Session } from "./session.ts";

export interface Member {
  readonly username: string;
  readonly role: "owner" | "writer" | "reader";
}

/** What the workspace API says of a workspace to who is in it. */
export interface Workspace {
  readonly name: string;
  readonly members: readonly Member[];
  readonly storage?: {
    readonly credentials?: {
      readonly bucketname: string;
      readonly access: string;
      readonly secret: string;
      readonly endpoint: string;
      readonly region: string;
    };
  };
  readonly container_registry?: {
    /** Host and port. */
    readonly url: string;
    readonly project: string;
    readonly username?: string;
    readonly password?: string;
  };
}

const addressOf = (session: Session): string => `${session.address("workspace-api")}/workspaces`;

/** Names of the workspaces that the user is in, those that the user owns first. */
export async function listWorkspaces(session: Session): Promise<readonly string[]> {
  const { workspaces } = (await (await session.request(addressOf(session))).json()) as {
    readonly workspaces: readonly { readonly name: string; readonly role?: string }[];
  };
  return workspaces.toSorted((a, b) => Number(b.role === "owner") - Number(a.role === "owner")).map(({ name }) => name);
}

/** A workspace by its name, else the user's own. @throws {CommandError} when there is none */
export async function readWorkspace(session: Session, name?: string): Promise<Workspace> {
  const desired = name ?? (await listWorkspaces(session))[0];
  if (desired === undefined) {
    throw new CommandError(
      `you have no workspace; make one in the portal (Workspaces), or have an operator type: deploy/bin/create-workspace -W ${session.user}`,
    );
  }
  return (await (await session.request(`${addressOf(session)}/${encodeURIComponent(desired)}`)).json()) as Workspace;
}
