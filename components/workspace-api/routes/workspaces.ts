import { setTimeout as sleep } from "node:timers/promises";

import type { Caller } from "@swath/auth";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { IdentityError } from "../clients/identity-admin.ts";
import { WorkspaceError, notFound } from "../errors.ts";
import { toWorkspaceName, workspaceNamePattern } from "../names.ts";
import {
  type NewWorkspace,
  TooManyWorkspacesError,
  changeWorkspace,
  deleteWorkspace,
  findWorkspace,
  requeueNow,
  insertWorkspace,
  listWorkspaces,
  restoreWorkspace,
} from "../store/workspaces.ts";
import { roleIn } from "../caller.ts";
import { RESPONSE_SCHEMAS } from "./answers.ts";
import { listSteps } from "../store/steps.ts";
import { PROTECTION_STEP } from "../steps/step.ts";
import { checkMembers } from "./check-members.ts";
import { type ApiContext, enter } from "./context.ts";
import { statusOf, toRecord } from "./record.ts";
import { ChangeBody, CreateBody, DeleteQuery, ListQuery, NameParams } from "./schemas.ts";

const tags = ["workspaces"];
type Named = { Params: { name: string } };

/** Creating, reading, changing and deleting workspaces. */
export function addWorkspaceRoutes(app: FastifyInstance, context: ApiContext): void {
  const { db, prefix, callerOf } = context;
  const params = NameParams(workspaceNamePattern(prefix));

  app.post<{ Body: Static<typeof CreateBody>; Headers: { "idempotency-key"?: string } }>(
    "/workspaces",
    {
      schema: {
        tags,
        summary: "Create a workspace",
        description:
          "Answers at once; what belongs to the workspace is made meanwhile, see its status. Administrators create workspaces " +
          "for anybody, everybody else, where the deployment allows it, for themselves. With an Idempotency-Key, a repeated request answers like the first.",
        headers: Type.Object({ "idempotency-key": Type.Optional(Type.String({ maxLength: 255 })) }),
        body: CreateBody,
        response: RESPONSE_SCHEMAS.create,
      },
    },
    async (request, reply) => {
      const caller = await callerOf(request);
      const { preferred_name: preferredName = "", default_owner: owner = "" } = request.body;
      const idempotencyKey = request.headers["idempotency-key"];
      const workspace: NewWorkspace = {
        name: toWorkspaceName(prefix, preferredName),
        preferredName,
        ...(await findOwner(context, caller, owner.trim())),
        ...(idempotencyKey !== undefined && { idempotencyKey }),
        ...(caller.user && { createdBy: caller.user.username ?? caller.user.id }),
      };
      const limit = checkCreation(context, caller, preferredName);
      const isNew = await insertWorkspace(db, workspace, limit).catch((error: unknown) => {
        throw error instanceof TooManyWorkspacesError
          ? new WorkspaceError(403, `You may have ${limit} workspaces; delete one, or ask an operator for another.`)
          : error;
      });
      if (!isNew && !(await restoreWorkspace(db, workspace))) {
        await refuseDuplicate(context, workspace);
      }
      await waitUntilProtected(context, workspace.name);
      return reply.code(201).header("location", `/workspaces/${workspace.name}`).send({ name: workspace.name });
    },
  );

  app.get<{ Querystring: Static<typeof ListQuery> }>(
    "/workspaces",
    {
      schema: {
        tags,
        summary: "List workspaces: one's own, or all for an administrator",
        querystring: ListQuery,
        response: RESPONSE_SCHEMAS.list,
      },
    },
    async (request) => {
      const caller = await callerOf(request);
      const { limit = 100, after } = request.query;
      const found = await listWorkspaces(db, {
        limit: limit + 1,
        ...(after !== undefined && { after }),
        ...(!caller.isAdmin && caller.user && { user: caller.user }),
      });
      const page = found.slice(0, limit);
      const last = page.at(-1);
      return {
        workspaces: page.map((workspace) => ({
          name: workspace.name,
          status: statusOf(workspace),
          owner: workspace.ownerName ?? workspace.owner,
          role: roleIn(caller, workspace),
          created_at: workspace.createdAt.toISOString(),
        })),
        ...(found.length > limit && last && { next: last.name }),
      };
    },
  );

  app.get<Named>(
    "/workspaces/:name",
    {
      schema: {
        tags,
        summary: "A workspace: status, storage credentials, members",
        params,
        response: RESPONSE_SCHEMAS.read,
      },
    },
    async (request, reply) => {
      const { workspace, role } = await enter(context, request, "reader");
      void reply.header("cache-control", "no-store");
      return toRecord(context, workspace, role);
    },
  );

  app.patch<Named & { Body: Static<typeof ChangeBody> }>(
    "/workspaces/:name",
    {
      schema: {
        tags,
        summary: "Change quota (administrators) or members (the owner)",
        params,
        body: ChangeBody,
        response: RESPONSE_SCHEMAS.change,
      },
    },
    async (request, reply) => {
      const { caller, workspace } = await enter(context, request, "owner");
      const { storage, members } = request.body;
      const quotaMb = storage?.quota_in_mb;
      if (quotaMb !== undefined && !caller.isAdmin) {
        throw new WorkspaceError(403, "Only an administrator may change the quota of a workspace.");
      }
      refuseTwice(members ?? []);
      const done = await changeWorkspace(db, workspace.name, {
        ...(quotaMb !== undefined && { quotaMb }),
        ...(members !== undefined && { members }),
      });
      if (!done) {
        throw isBeingDeleted(workspace.name);
      }
      if (members !== undefined && context.identityAs !== undefined) {
        await checkMembers(db, workspace.name, members);
      }
      return reply.code(204).send();
    },
  );

  app.delete<Named & { Querystring: Static<typeof DeleteQuery> }>(
    "/workspaces/:name",
    {
      schema: {
        tags,
        summary: "Delete a workspace, and its data when asked to",
        params,
        querystring: DeleteQuery,
        response: RESPONSE_SCHEMAS.delete,
      },
    },
    async (request, reply) => {
      const { data = "keep" } = request.query;
      const caller = await callerOf(request);
      const { name } = request.params;
      const workspace = await findWorkspace(db, name);
      const isKept = workspace?.phase === "kept";
      const role = workspace && roleIn(caller, workspace);
      if (workspace === undefined || role === undefined || (isKept && data === "keep")) {
        throw notFound(name);
      }
      if (role !== "owner") {
        throw new WorkspaceError(403, `Only the owner of workspace ${name} or an administrator may delete it.`);
      }
      await deleteWorkspace(db, name, data);
      return reply.code(204).send();
    },
  );

  app.post<Named>(
    "/workspaces/:name/rotate-keys",
    {
      schema: {
        tags,
        summary: "Replace the storage keys; the old ones end",
        params,
        response: RESPONSE_SCHEMAS.rotateKeys,
      },
    },
    async (request, reply) => {
      const { workspace } = await enter(context, request, "owner");
      if (!(await changeWorkspace(db, workspace.name, { rotateKeys: true }))) {
        throw isBeingDeleted(workspace.name);
      }
      return reply.code(202).send({ message: `The storage keys of ${workspace.name} are being replaced.` });
    },
  );

  app.post<Named>(
    "/workspaces/:name/redeploy",
    {
      schema: {
        tags,
        summary: "Compare the workspace with what it should be now",
        params,
        response: RESPONSE_SCHEMAS.redeploy,
      },
    },
    async (request, reply) => {
      const { workspace } = await enter(context, request, "owner");
      await requeueNow(db, workspace.name);
      return reply.code(204).send();
    },
  );
}

/**
 * Whether the caller may create a workspace of this name, and how many it may own then: undefined without a limit.
 * @throws {WorkspaceError} 403
 */
function checkCreation(
  { creation, prefix }: ApiContext,
  { isAdmin, user }: Caller,
  preferredName: string,
): number | undefined {
  if (isAdmin) {
    return undefined;
  }
  if (creation.by !== "self-service") {
    throw new WorkspaceError(403, "Operators create workspaces in this deployment; ask one for yours.");
  }
  const own = user?.username?.toLowerCase();
  // Two user names may come to one name of a workspace: only who is called exactly so may have it.
  const isOwn = own !== undefined && toWorkspaceName(prefix, preferredName) === `${prefix}-${own}`;
  if (preferredName !== "" && !isOwn) {
    throw new WorkspaceError(
      403,
      `You may name a workspace after yourself only, or leave preferred_name out to have it named; ${JSON.stringify(preferredName)} may be another user's.`,
    );
  }
  return creation.limitPerUser;
}

const PROTECTION_TIMEOUT_MS = 5000;
const PROTECTION_POLL_MS = 40;

/**
 * Waits until the paths of a new workspace are protected, so that whoever hears of it may use them at once. Where that takes longer,
 * because a service is away, the answer does not wait: the reconciler goes on.
 */
async function waitUntilProtected({ db, identityAs }: ApiContext, name: string): Promise<void> {
  if (identityAs === undefined) {
    return;
  }
  for (let waited = 0; waited < PROTECTION_TIMEOUT_MS; waited += PROTECTION_POLL_MS) {
    const step = (await listSteps(db, name)).find((record) => record.name === PROTECTION_STEP);
    if (step?.state === "done" || step?.state === "failed") {
      return;
    }
    await sleep(PROTECTION_POLL_MS);
  }
}

/** Who the owner is: the caller's own token says so, or the identity service when an administrator names somebody. */
async function findOwner(
  { identityAs }: ApiContext,
  { isAdmin, user, token }: Caller,
  owner: string,
): Promise<Pick<NewWorkspace, "owner" | "ownerId" | "ownerName">> {
  const isCaller = user !== undefined && (owner === "" || owner === user.id || owner === user.username);
  if (isCaller) {
    return { owner: user.username ?? user.id, ownerId: user.id, ownerName: user.username ?? user.id };
  }
  if (!isAdmin) {
    throw new WorkspaceError(403, `You may create workspaces for yourself only; ${JSON.stringify(owner)} is not you.`);
  }
  if (identityAs === undefined || token === undefined || owner === "") {
    return { owner };
  }
  const found = await identityAs(token)
    .findUser(owner)
    .catch((cause: unknown) => {
      if (cause instanceof IdentityError && cause.status < 500) {
        // This administrator may not look at users: the reconciler finds out who it is.
        return { id: undefined, username: undefined };
      }
      throw new WorkspaceError(503, "The identity service does not answer; try again in a moment.");
    });
  if (found === undefined) {
    throw new WorkspaceError(422, `There is no user ${JSON.stringify(owner)}; create the user first.`, [
      { loc: ["body", "default_owner"], msg: "is not a user", type: "value_error.unknown_user" },
    ]);
  }
  return { owner, ...(found.id !== undefined && { ownerId: found.id, ownerName: found.username }) };
}

/** Returns for a repetition of the request that made the workspace. @throws {WorkspaceError} 422 for any other */
async function refuseDuplicate({ db }: ApiContext, { name, idempotencyKey, owner }: NewWorkspace): Promise<void> {
  const existing = await findWorkspace(db, name);
  if (idempotencyKey !== undefined && existing?.idempotencyKey === idempotencyKey && existing.owner === owner) {
    return;
  }
  const why =
    existing?.phase === "kept"
      ? `Workspace ${name} was deleted and its bucket still holds its former owner's data; purge it first (DELETE /workspaces/${name}?data=purge).`
      : existing?.phase === "deleting"
        ? `Workspace ${name} is being deleted; try again when it is gone.`
        : `Workspace ${name} already exists.`;
  throw new WorkspaceError(422, why, { error: "Namespace already exists" });
}

function refuseTwice(members: readonly { readonly username: string }[]): void {
  const names = members.map(({ username }) => username);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) {
    throw new WorkspaceError(422, `${JSON.stringify(twice)} is named twice among the members.`, [
      { loc: ["body", "members"], msg: `names ${twice} twice`, type: "value_error.duplicate" },
    ]);
  }
}

function isBeingDeleted(name: string): WorkspaceError {
  return new WorkspaceError(409, `Workspace ${name} is being deleted.`);
}
