import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";

import { runChange } from "../../admin/request.ts";
import type { IdentityContext, LoginFace } from "../../context.ts";
import { isUuid } from "../../store/database.ts";
import {
  type DecisionPolicy,
  type PolicyDocument,
  deleteDecisionPolicy,
  findDecisionPolicy,
  findResourceHome,
  insertDecisionPolicy,
  listDecisionPolicies,
  updateDecisionPolicy,
} from "../../store/decision-policies.ts";
import { findRealmOr404 } from "../../protocol/realm-scope.ts";
import { announceRules } from "../../store/resource-servers.ts";
import { type PdpCaller, findPdpCaller, showsCredentials } from "./caller.ts";
import { decideRequest } from "./decide.ts";
import { findDefaultPolicy, listDefaultPolicies } from "./default-policies.ts";
import { HOPS_HEADER, MAX_HOPS } from "./delegate.ts";
import { PdpError } from "./errors.ts";
import { readPolicyDocument } from "./policy-document.ts";
import { readBody } from "./read-body.ts";
import { DENY, PERMIT, readDecisionRequest } from "./xacml.ts";

const MAX_LISTED = 1000;
/** What the earlier release line says to who does not own a policy. */
const NOT_OWNER = "Could not get the UUID for the user";
/** For callers without a token: an enforcement point asks for each request that it guards. */
const DECISIONS = { name: "decisions", perUser: 6000, perAddress: 6000, seconds: 60 };
const TAG = { tags: ["policies"] };
const ANY_JSON = { type: "object", additionalProperties: true } as const;

/** Decisions and the policies that they are made by. */
export function addPdpPolicyRoutes(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  const open = (request: FastifyRequest) => findPdpCaller(context, face, request);
  const decisions = context.limits.createRate(DECISIONS);
  /** The realm whose users and policies decide, for who may ask. */
  const openRealm = async (request: FastifyRequest) => {
    if (face.decisions === "open" && !showsCredentials(request)) {
      decisions.count({ user: undefined, address: request.ip });
      return await findRealmOr404(context, face.realm);
    }
    return (await open(request)).handle;
  };

  for (const method of ["GET", "POST"] as const) {
    app.route({
      method,
      url: "/pdp/policy/validate",
      schema: {
        ...TAG,
        summary: "Decide about a request (XACML 3.0, JSON profile)",
        ...(method === "POST" && { body: ANY_JSON }),
      },
      handler: async (request, reply) => {
        const handle = await openRealm(request);
        const body = await readBody(request);
        const isPermitted = await decideRequest(context, handle, readDecisionRequest(body), {
          body: Object(body) as object,
          hops: readHops(request),
        });
        return send(reply, isPermitted ? 200 : 401, isPermitted ? PERMIT : DENY);
      },
    });
  }

  app.get(
    "/pdp/policy/",
    { schema: { ...TAG, summary: "List policies: one's own, or those of a resource" } },
    async (request, reply) => {
      const caller = await open(request);
      const { resource_id: resource } = { ...(request.query as object), ...Object(await readBody(request)) } as {
        resource_id?: unknown;
      };
      const policies = await listDecisionPolicies(context.pool, caller.handle.realm.id, {
        ...(typeof resource === "string" && { resources: [resource] }),
        ...(caller.isOperator ? {} : { owner: caller.userId }),
        limit: MAX_LISTED,
      });
      if (policies.length === 0 && typeof resource === "string" && (await isOthers(context, caller, resource))) {
        // Known clients read both: the reason in a header, and the list.
        return send(reply.header("error", NOT_OWNER), 401, { policies: [], error: NOT_OWNER });
      }
      const defaults =
        typeof resource === "string" ? await listDefaultPolicies(context.pool, caller.handle.realm.id, resource) : [];
      const own = defaults.filter(({ owner }) => caller.isOperator || owner === caller.userId);
      return send(reply, 200, { policies: [...policies, ...own].map(show) });
    },
  );

  for (const method of ["POST", "PUT"] as const) {
    app.route({
      method,
      url: "/pdp/policy/",
      schema: { ...TAG, summary: "Make a policy", body: ANY_JSON },
      handler: async (request, reply) => {
        const caller = await open(request);
        const document = readPolicyDocument(request.body);
        const made = await runChange(context, async (db) => {
          await checkResource(db, caller, document);
          const id = await insertDecisionPolicy(db, caller.handle.realm.id, caller.userId, document);
          await publishChange(db, caller, document.config.resource_id);
          return { id, owner: caller.userId, document };
        });
        return send(reply, 200, show(made));
      },
    });
  }

  app.get("/pdp/policy/:policy", { schema: { ...TAG, summary: "Show a policy" } }, async (request, reply) =>
    send(reply, 200, show(await openPolicy(context, await open(request), request))),
  );

  for (const method of ["PUT", "POST"] as const) {
    app.route({
      method,
      url: "/pdp/policy/:policy",
      schema: { ...TAG, summary: "Change a policy", body: ANY_JSON },
      handler: async (request, reply) => {
        const caller = await open(request);
        const policy = await openPolicy(context, caller, request);
        const document = readPolicyDocument(request.body, policy.document);
        const id = await runChange(context, async (db) => {
          await checkResource(db, caller, document);
          const stored = await storePolicy(db, caller.handle.realm.id, policy, document);
          await publishChange(db, caller, policy.document.config.resource_id);
          await publishChange(db, caller, document.config.resource_id);
          return stored;
        });
        return send(reply, 200, show({ id, owner: policy.owner, document }));
      },
    });
  }

  app.delete("/pdp/policy/:policy", { schema: { ...TAG, summary: "Remove a policy" } }, async (request, reply) => {
    const caller = await open(request);
    const policy = await openPolicy(context, caller, request);
    if (policy.isDefault === true) {
      throw new PdpError(409, "default policy", "It goes with its resource: what an owner may do is not taken away");
    }
    await runChange(context, async (db) => {
      await deleteDecisionPolicy(db, policy.id);
      await publishChange(db, caller, policy.document.config.resource_id);
    });
    return reply.code(204).send();
  });
}

/** How many decision points have passed the request on. */
function readHops({ headers }: FastifyRequest): number {
  const hops = headers[HOPS_HEADER];
  // Nonsense counts as too many.
  return hops === undefined ? 0 : typeof hops === "string" && /^\d$/.test(hops) ? Number(hops) : MAX_HOPS;
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).header("cache-control", "no-store").type("application/json").send(JSON.stringify(body));
}

const show = ({ id, owner, document }: DecisionPolicy) => ({ _id: id, id, ownership_id: owner, ...document });

/** @throws {PdpError} 404, 401 where it is somebody else's */
async function openPolicy(
  { pool }: IdentityContext,
  { handle, userId, isOperator }: PdpCaller,
  { params }: FastifyRequest,
): Promise<DecisionPolicy> {
  const { policy: id } = params as { policy: string };
  const policy = isUuid(id)
    ? await findDecisionPolicy(pool, handle.realm.id, id)
    : await findDefaultPolicy(pool, handle.realm.id, id);
  if (policy === undefined) {
    throw new PdpError(404, "no such policy", "There is no policy with this ID");
  }
  if (!isOperator && policy.owner !== userId) {
    throw new PdpError(401, NOT_OWNER, "The policy is somebody else's");
  }
  return policy;
}

/** Changes a stored policy, or stores one in the place of a default; its ID. @throws {PdpError} 409 where another request was faster */
async function storePolicy(
  db: pg.PoolClient,
  realmId: string,
  { id, owner, isDefault = false }: DecisionPolicy,
  document: PolicyDocument,
): Promise<string> {
  if (!isDefault) {
    await updateDecisionPolicy(db, id, document);
    return id;
  }
  if ((await findDefaultPolicy(db, realmId, id)) === undefined) {
    throw new PdpError(
      409,
      "changed meanwhile",
      "Another request changed this policy at the same moment; list it again",
    );
  }
  return insertDecisionPolicy(db, realmId, owner, document);
}

/** Whether a resource that this caller has no policies of belongs to another user. */
async function isOthers(
  { pool }: IdentityContext,
  { handle, userId, isOperator }: PdpCaller,
  resource: string,
): Promise<boolean> {
  const home = isOperator ? undefined : await findResourceHome(pool, handle.realm.id, resource);
  return home !== undefined && home.owner !== userId && home.client !== userId;
}

/** Nobody grants what is somebody else's: the resource is the caller's own, or nobody has policies of it. @throws {PdpError} 401 */
async function checkResource(db: pg.PoolClient, caller: PdpCaller, { config }: PolicyDocument): Promise<void> {
  const { handle, userId, isOperator } = caller;
  if (isOperator) {
    return;
  }
  if (config.delegate !== undefined) {
    // The service sends requests there.
    throw new PdpError(401, "not an operator", "Only operators leave decisions to another decision point");
  }
  // One at a time for a resource, so that two cannot both be the first.
  await db.query("select pg_advisory_xact_lock(hashtext($1))", [`decision policy ${config.resource_id}`]);
  const home = await findResourceHome(db, handle.realm.id, config.resource_id);
  const known = await listDecisionPolicies(db, handle.realm.id, { resources: [config.resource_id], limit: MAX_LISTED });
  const isOwn =
    home === undefined ? known.every(({ owner }) => owner === userId) : home.owner === userId || home.client === userId;
  if (!isOwn) {
    throw new PdpError(401, "no ownership of the resource", "The resource is somebody else's");
  }
}

async function publishChange(db: pg.PoolClient, { handle }: PdpCaller, resourceId: string): Promise<void> {
  const home = await findResourceHome(db, handle.realm.id, resourceId);
  if (home !== undefined) {
    await announceRules(db, handle.realm.name, { id: home.client, clientId: home.clientId });
  }
}
