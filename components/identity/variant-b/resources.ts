import { METHOD_RESOURCE_TYPE, createUriIndex, methodScope } from "@swath/auth";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";

import { runChange } from "../admin/request.ts";
import type { IdentityContext, LoginFace } from "../context.ts";
import { authenticateConfidentialClient } from "../protocol/client-authentication.ts";
import { Form } from "../protocol/form.ts";
import { checkAccessToken } from "../protocol/access-token.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { ADMIN_ROLE } from "../realms/create-realm.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import {
  type AuthzResource,
  deleteResource,
  findResource,
  insertResource,
  listResources,
  updateResource,
} from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { isUuid } from "../store/database.ts";
import { deleteDecisionPoliciesOf, insertDecisionPolicy } from "../store/decision-policies.ts";
import { METHOD_ACTIONS } from "../policy/decision-rules.ts";
import { announceRules } from "../store/resource-servers.ts";
import { findUser } from "../store/users.ts";
import { PdpError, sendPdpError } from "./pdp/errors.ts";
import { type ResourceRequest, readResourceRequest } from "./resource-request.ts";

/** Scopes of a resource that is registered without any. */
const DEFAULT_SCOPES = METHOD_ACTIONS.map(methodScope);

interface Caller {
  readonly handle: RealmHandle;
  /** The resource server. */
  readonly client: Client;
  readonly userId: string;
  readonly isOperator: boolean;
}

/**
 * What the enforcement point's `/resources` does (the gatekeeper passes it on): resources of one server, each with the policy that its
 * owner may use it. The server says who it is by its secret, and hands on the user's token in `X-User-Id`.
 */
export function addEnforcementResources(app: FastifyInstance, context: IdentityContext, face: LoginFace): void {
  const { pool } = context;
  const base = `/internal/realms/${face.realm}/clients/:clientId/enforcement/resources`;
  const hide = { schema: { hide: true } };
  app.setErrorHandler(sendPdpError);

  const open = async (request: FastifyRequest): Promise<Caller> => {
    const handle = await findRealmOr404(context, face.realm);
    const client = await authenticateConfidentialClient(handle, request.headers.authorization, new Form({}));
    if (client.clientId !== (request.params as { clientId: string }).clientId) {
      throw new PdpError(404, "no such client", "Only a client's own resources are given");
    }
    const token = request.headers["x-user-id"];
    const bearer =
      typeof token === "string" ? await checkAccessToken(context, handle, token, { acceptIdTokens: true }) : undefined;
    if (bearer === undefined) {
      throw new PdpError(401, "no token or token invalid", "Send an ID token or access token as Authorization: Bearer");
    }
    return { handle, client, userId: bearer.user.id, isOperator: bearer.access.realm.includes(ADMIN_ROLE) };
  };
  const listOwn = async ({ client }: Caller) =>
    (await listResources(pool, client.id)).filter(({ type }) => type === METHOD_RESOURCE_TYPE);
  const openResource = async (caller: Caller, request: FastifyRequest): Promise<AuthzResource> => {
    const { resource: id } = request.params as { resource: string };
    const resource = isUuid(id) ? await findResource(pool, caller.client.id, id) : undefined;
    if (resource?.type !== METHOD_RESOURCE_TYPE) {
      throw new PdpError(404, "Resource not found", "There is no resource with this ID");
    }
    if (!caller.isOperator && resource.owner !== caller.userId) {
      throw new PdpError(403, "no ownership", "The resource is somebody else's");
    }
    return resource;
  };
  const change = <Result>({ handle, client }: Caller, work: (db: pg.PoolClient) => Promise<Result>) =>
    runChange(context, async (db) => {
      // One at a time, so that no path is registered twice.
      await db.query("select pg_advisory_xact_lock(hashtext($1))", [`enforcement ${client.id}`]);
      const result = await work(db);
      await announceRules(db, handle.realm.name, client);
      return result;
    });

  app.get(base, hide, async (request) => {
    const caller = await open(request);
    const known = await listOwn(caller);
    const visible = known.filter(({ owner }) => caller.isOperator || owner === caller.userId);
    const { path } = request.query as { path?: unknown };
    if (typeof path !== "string") {
      return visible.map(show);
    }
    const [found] = createUriIndex(known.flatMap((item) => item.uris.map((uri) => [uri, item] as const))).find(path);
    if (found === undefined || !visible.includes(found)) {
      throw new PdpError(404, "Resource not found", "No resource of yours has this path");
    }
    return show(found);
  });

  app.post(base, hide, async (request) => {
    const caller = await open(request);
    const requested = readResourceRequest(request.body);
    const owner = await findOwner(caller, requested);
    const id = await change(caller, async (db) => {
      const known = (await listResources(db, caller.client.id)).filter(({ type }) => type === METHOD_RESOURCE_TYPE);
      checkPath(caller, requested.path, known);
      const made = await insertResource(db, caller.client.id, {
        name: requested.name,
        iconUri: requested.path,
        type: METHOD_RESOURCE_TYPE,
        owner,
        uris: [toPattern(requested.path)],
        scopes: requested.scopes ?? DEFAULT_SCOPES,
      });
      await insertDecisionPolicy(db, caller.handle.realm.id, owner, {
        name: `Default Ownership Policy of ${made}`,
        description: "The owner may use the resource",
        config: { resource_id: made, action: "", "T&C": requested.terms, rules: [{ EQUAL: { id: owner } }] },
        scopes: [],
      });
      return made;
    });
    return { ...requested.echo, ownership_id: owner, id };
  });

  for (const method of ["PUT", "PATCH"] as const) {
    app.route({
      method,
      url: `${base}/:resource`,
      ...hide,
      handler: async (request) => {
        const caller = await open(request);
        const resource = await openResource(caller, request);
        const requested = readResourceRequest(request.body, {
          name: resource.name,
          path: toPath(resource),
          scopes: resource.scopes.map(({ name }) => name),
        });
        const owner = requested.owner === undefined ? resource.owner : await findOwner(caller, requested);
        const scopes = requested.scopes ?? DEFAULT_SCOPES;
        await change(caller, async (db) => {
          const others = (await listResources(db, caller.client.id)).filter(
            ({ id, type }) => type === METHOD_RESOURCE_TYPE && id !== resource.id,
          );
          if (requested.path !== toPath(resource)) {
            checkPath(caller, requested.path, others);
          }
          const fields = { ...resource, name: requested.name, owner, uris: [toPattern(requested.path)], scopes };
          await updateResource(db, caller.client.id, resource.id, fields);
          if (owner !== resource.owner) {
            await deleteDecisionPoliciesOf(db, caller.handle.realm.id, resource.id);
            await insertDecisionPolicy(db, caller.handle.realm.id, owner, {
              name: `Default Ownership Policy of ${resource.id}`,
              description: "The owner may use the resource",
              config: {
                resource_id: resource.id,
                action: "",
                "T&C": requested.terms,
                rules: [{ EQUAL: { id: owner } }],
              },
              scopes: [],
            });
          }
        });
        return { name: requested.name, resource_scopes: scopes, ownership_id: owner };
      },
    });
  }

  app.delete(`${base}/:resource`, hide, async (request, reply) => {
    const caller = await open(request);
    const resource = await openResource(caller, request);
    await change(caller, async (db) => {
      await deleteDecisionPoliciesOf(db, caller.handle.realm.id, resource.id);
      await deleteResource(db, caller.client.id, resource.id);
    });
    return reply.code(204).send();
  });
  app.get(`${base}/:resource`, hide, async (request) => {
    const resource = await openResource(await open(request), request);
    return {
      ...show(resource),
      ownership_id: resource.owner,
      resource_scopes: resource.scopes.map(({ name }) => name),
    };
  });

  /** @throws {PdpError} 401 for a field that only operators may send, 400 for nobody */
  async function findOwner({ handle, userId, isOperator }: Caller, { owner }: ResourceRequest): Promise<string> {
    if (owner === undefined || owner === userId) {
      return userId;
    }
    if (!isOperator) {
      throw new PdpError(401, "operator only", "Only operators register resources for others (uuid)");
    }
    if (!isUuid(owner) || (await findUser(pool, handle.realm.id, owner)) === undefined) {
      throw new PdpError(400, "no such user", `There is no user with the ID ${JSON.stringify(owner.slice(0, 100))}`);
    }
    return owner;
  }
}

/** Who is no operator registers below what is the own: otherwise anybody could close paths of others. @throws {PdpError} 422, 401 */
function checkPath({ isOperator, userId }: Caller, path: string, known: readonly AuthzResource[]): void {
  if (known.some(({ uris }) => uris.includes(toPattern(path)))) {
    throw new PdpError(422, "already registered", `${path} is registered already`);
  }
  const context = createUriIndex(known.flatMap((item) => item.uris.map((uri) => [uri, item] as const))).find(path);
  if (!isOperator && !(context.length > 0 && context.every(({ owner }) => owner === userId))) {
    throw new PdpError(401, "operator only", `Only operators register ${path}; you register paths below your own`);
  }
}

const toPattern = (path: string): string => `${path.replace(/\/+$/, "")}/*`;
const toPath = ({ uris }: AuthzResource): string => (uris[0] ?? "").replace(/\/\*$/, "") || "/";
const show = (resource: AuthzResource) => ({
  _id: resource.id,
  _name: resource.name,
  _reverse_match_url: toPath(resource),
});
