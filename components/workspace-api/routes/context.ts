import type { Caller } from "@swath/auth";
import type { CallerLimits } from "@swath/service/caller-limits";
import type { FastifyRequest } from "fastify";
import type { Kysely } from "kysely";

import type { RegistrationClient } from "../clients/registration.ts";
import { roleIn } from "../caller.ts";
import type { IdentityAdmin } from "../clients/identity-admin.ts";
import { WorkspaceError, notFound } from "../errors.ts";
import type { Role, Tables } from "../store/tables.ts";
import { type Workspace, findWorkspace } from "../store/workspaces.ts";

export interface ApiContext {
  readonly db: Kysely<Tables>;
  readonly prefix: string;
  readonly limits: CallerLimits;
  readonly callerOf: (request: FastifyRequest) => Promise<Caller>;
  /** Asks the identity service with a caller's own token; left out where there is none. */
  readonly identityAs?: (token: string) => IdentityAdmin;
  /** Who creates workspaces besides operators, and how many each may own. */
  readonly creation: { readonly by: "operators" | "self-service"; readonly limitPerUser: number };
  /** Carries registrations out; left out where there is none, and then they are kept. */
  readonly registration?: RegistrationClient;
  readonly storage?: { readonly endpoint: string; readonly region: string };
}

interface Entered {
  readonly caller: Caller;
  readonly workspace: Workspace;
  readonly role: Role;
}

const RANK: Readonly<Record<Role, number>> = { reader: 0, writer: 1, owner: 2 };

/**
 * The workspace that a request names, for a caller who is at least `least` in it.
 * @throws {WorkspaceError} 404 for strangers, 403 for members who may less
 */
export async function enter(
  { db, callerOf }: ApiContext,
  request: FastifyRequest<{ Params: { name: string } }>,
  least: Role,
): Promise<Entered> {
  const caller = await callerOf(request);
  const { name } = request.params;
  const workspace = await findWorkspace(db, name);
  const role = workspace && workspace.phase !== "kept" ? roleIn(caller, workspace) : undefined;
  if (workspace === undefined || role === undefined) {
    throw notFound(name);
  }
  if (RANK[role] < RANK[least]) {
    throw new WorkspaceError(403, `This needs the role ${least} in workspace ${name}; yours is ${role}.`);
  }
  return { caller, workspace, role };
}
