import { type Logger, Problem, type SecretCheck, readBearer } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";
import { type Static, Type } from "typebox";

import { roleIn } from "../caller.ts";
import type { BucketOutputs } from "../steps/bucket.ts";
import { listSteps } from "../store/steps.ts";
import { type Workspace, listOwned, listWorkspaces } from "../store/workspaces.ts";
import type { ApiContext } from "./context.ts";
import { registerIn } from "./register-in.ts";
import { RegisterBody } from "./schemas.ts";
import { checkType } from "./registration.ts";
import { statusOf, toCredentials } from "./record.ts";

/** Workspaces of one user that are told. */
const MAX_MEMBERSHIPS = 1000;

interface InternalOptions {
  readonly logger: Logger;
  readonly context: Pick<ApiContext, "db" | "prefix" | "storage" | "registration">;
  /** Knows what callers show as a bearer token. */
  readonly isSecret: SecretCheck;
}

/**
 * What other services of the deployment ask, on a port of its own that is not published: where a user's results go, and to
 * have them registered. They act for users whose tokens may have ended long ago.
 */
export function createInternalApi({ logger, context, isSecret }: InternalOptions): FastifyInstance {
  const app = createApp(logger);
  app.addHook("onRequest", async (request) => {
    if (request.url === "/healthz") {
      return;
    }
    if (!isSecret(readBearer(request.headers.authorization))) {
      throw new Problem(401, "This port is for services of the deployment, which know its secret.");
    }
  });
  const params = Type.Object({ user: Type.String({ minLength: 1, maxLength: 255 }) });
  const workspaceOf = async (user: string): Promise<Workspace> => {
    const owned = await listOwned(context.db, user);
    const workspace = owned.find(({ name }) => name === `${context.prefix}-${user}`) ?? owned[0];
    if (workspace === undefined) {
      throw new Problem(
        404,
        `User ${user} has no workspace; an administrator makes one (create-workspace ${user}), or the user where that is open.`,
      );
    }
    return workspace;
  };
  const body = Type.Intersect([
    RegisterBody,
    Type.Object({
      provenance: Type.Optional(Type.Object({}, { additionalProperties: true })),
      wait: Type.Optional(Type.Number({ minimum: 0, maximum: 30 })),
    }),
  ]);
  app.post<{ Params: { user: string }; Body: Static<typeof body> }>(
    "/users/:user/registrations",
    { schema: { params, body } },
    async (request, reply) => {
      const { user } = request.params;
      const { name: workspace } = await workspaceOf(user);
      const { provenance, wait, ...requested } = request.body;
      checkType(requested);
      const { message, state, reason } = await registerIn(context, {
        workspace,
        requestedBy: user,
        request: { form: "register", ...requested },
        ...(provenance !== undefined && { provenance }),
        ...(wait !== undefined && { wait }),
      });
      return reply.code(202).send({ message, workspace, ...(state !== undefined && { state, reason }) });
    },
  );
  const removal = Type.Object({ url: Type.String({ minLength: 1, maxLength: 4096 }) });
  app.post<{ Params: { user: string }; Body: Static<typeof removal> }>(
    "/users/:user/deregistrations",
    { schema: { params, body: removal } },
    async (request, reply) => {
      const { user } = request.params;
      const { url } = request.body;
      const { name: workspace } = await workspaceOf(user);
      const { message } = await registerIn(context, {
        workspace,
        requestedBy: user,
        request: { form: "deregister", url },
      });
      return reply.code(202).send({ message });
    },
  );
  const query = Type.Object({
    id: Type.String({ minLength: 1, maxLength: 255 }),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  });
  app.get<{ Querystring: Static<typeof query> }>(
    "/memberships",
    { schema: { querystring: query } },
    async (request) => {
      const { id, username } = request.query;
      const user = { id, ...(username !== undefined && { username }) };
      const workspaces = await listWorkspaces(context.db, { user, limit: MAX_MEMBERSHIPS });
      return {
        memberships: workspaces.map((workspace) => ({
          workspace: workspace.name,
          role: roleIn({ isAdmin: false, user }, workspace) ?? "owner",
        })),
      };
    },
  );
  app.get<{ Params: { user: string } }>("/users/:user/workspaces", { schema: { params } }, async (request) => {
    const owned = await listOwned(context.db, request.params.user);
    return { workspaces: owned.map(({ name }) => name) };
  });
  app.get<{ Params: { user: string } }>("/users/:user/storage", { schema: { params } }, async (request) => {
    const { user } = request.params;
    const { db, storage } = context;
    const workspace = await workspaceOf(user);
    const steps = await listSteps(db, workspace.name);
    const bucket = steps.find(({ name }) => name === "bucket")?.outputs as BucketOutputs | null | undefined;
    const isReady = bucket?.key !== undefined || bucket?.keyless === true;
    if (!bucket || !isReady || storage === undefined) {
      throw new Problem(
        409,
        `Workspace ${workspace.name} of ${user} has no storage yet; it is ${statusOf(workspace)}.`,
      );
    }
    // Without a key of the workspace's own, services use the platform's for this bucket.
    return {
      workspace: workspace.name,
      status: statusOf(workspace),
      storage: { credentials: toCredentials(bucket, bucket.key ?? { access: "", secret: "" }, storage) },
    };
  });
  return app;
}
