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

/** A workspace by its name, else the user's own. @throws {CommandError} when there is none, or none of several is meant */
export async function readWorkspace(session: Session, name?: string): Promise<Workspace> {
  const desired = name ?? chooseWorkspace(await listWorkspaces(session), session.user);
  return (await (await session.request(`${addressOf(session)}/${encodeURIComponent(desired)}`)).json()) as Workspace;
}

/**
 * The workspace that a command means without naming one: the only one, or of several the one with the user's name, as
 * `create-workspace` makes it. The order in which the service lists them decides nothing.
 */
export function chooseWorkspace(names: readonly string[], user: string): string {
  const [first, ...others] = names;
  if (first === undefined) {
    throw new CommandError(
      `you have no workspace; make one in the portal (Workspaces), or have an operator type: deploy/bin/create-workspace -W ${user}`,
    );
  }
  const own = others.length === 0 ? first : names.find((each) => each.endsWith(`-${user}`));
  if (own === undefined) {
    throw new CommandError(`you are in several workspaces; name one of them: ${names.join(", ")}`);
  }
  return own;
}
