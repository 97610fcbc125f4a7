import { Problem } from "@swath/service";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Static, Type } from "typebox";

import { nameOf } from "../access/principal.ts";
import type { AccessKey } from "../store/accounts.ts";
import type { ObjectStore } from "../store/store.ts";
import { Name, Policy, checkPolicy, toKeyJson, toUserJson } from "./json.ts";
import type { Session } from "./sessions.ts";

export interface AccountRoutesDeps {
  readonly store: ObjectStore;
  readonly rootUser: string;
  /** @throws {Problem} 401 */
  readonly callerOf: (request: FastifyRequest) => Session;
  /** @throws {Problem} 401, 403 */
  readonly requireRoot: (request: FastifyRequest) => void;
}

const UserBody = Type.Object({
  policy: Policy,
  enabled: Type.Optional(Type.Boolean()),
  /** The user's own name: an account of its own, whose buckets are nobody else's. */
  account: Type.Optional(Type.String({ maxLength: 128 })),
  email: Type.Optional(Type.String({ maxLength: 254 })),
  /** What the policy may give at most. */
  boundary: Type.Optional(Policy),
});
const KeyBody = Type.Object({
  user: Type.Optional(Name),
  title: Type.Optional(Type.String({ maxLength: 200 })),
  policy: Type.Optional(Policy),
  expiresAt: Type.Optional(Type.String({ format: "date-time" })),
});
/** A key that whoever deploys has made: two services know it without one having to tell the other. */
const GivenKey = Type.Object({
  user: Name,
  secretKey: Type.String({ pattern: "^[\\x21-\\x7e]{32,128}$" }),
  title: Type.Optional(Type.String({ maxLength: 200 })),
});
const GivenKeyId = Type.Object({ id: Type.String({ pattern: "^AKIA[A-Z0-9]{16}$" }) });
const KeyChange = Type.Object({ enabled: Type.Boolean() }, { additionalProperties: false });

/** Users and access keys. */
export function addAccountRoutes(
  app: FastifyInstance,
  { store, rootUser, callerOf, requireRoot }: AccountRoutesDeps,
): void {
  app.get("/api/users", (request) => {
    requireRoot(request);
    return { users: store.accounts.listUsers().map(toUserJson) };
  });
  app.get<{ Params: { name: string } }>("/api/users/:name", (request) => {
    requireRoot(request);
    const user = store.accounts.findUser(request.params.name);
    if (user === undefined) {
      throw new Problem(404, `There is no user ${request.params.name}.`);
    }
    return toUserJson(user);
  });
  app.put<{ Params: { name: string }; Body: Static<typeof UserBody> }>(
    "/api/users/:name",
    { schema: { params: Type.Object({ name: Name }), body: UserBody } },
    async (request) => {
      requireRoot(request);
      const { name } = request.params;
      if (name === rootUser) {
        throw new Problem(409, "The root user cannot be changed here.");
      }
      const policy = JSON.stringify(request.body.policy);
      checkPolicy(policy);
      const { enabled = true, email } = request.body;
      const known = store.accounts.findUser(name)?.account;
      // A user that an account made for itself stays with it.
      const account = request.body.account ?? known;
      if (account !== undefined && account !== "" && account !== name && account !== known) {
        throw new Problem(400, `The account of ${name} is its own ("${name}") or that of the deployment ("").`);
      }
      const boundary = request.body.boundary === undefined ? undefined : JSON.stringify(request.body.boundary);
      if (boundary !== undefined) {
        checkPolicy(boundary);
      }
      const user = await store.accounts.putUser(name, policy, { enabled, account, email, boundary });
      return toUserJson(user);
    },
  );
  app.delete<{ Params: { name: string } }>("/api/users/:name", async (request, reply) => {
    requireRoot(request);
    if (!(await store.accounts.deleteUser(request.params.name))) {
      throw new Problem(404, `There is no user ${request.params.name}.`);
    }
    return reply.code(204).send();
  });

  app.get<{ Querystring: { user?: string } }>("/api/access-keys", (request) => {
    const { principal } = callerOf(request);
    const keys = store.accounts.listKeys(principal.kind === "root" ? request.query.user : nameOf(principal));
    return { accessKeys: keys.map(toKeyJson) };
  });
  app.post<{ Body: Static<typeof KeyBody> }>(
    "/api/access-keys",
    { schema: { body: KeyBody } },
    async (request, reply) => {
      const { principal, key: own } = callerOf(request);
      const user = request.body.user ?? nameOf(principal);
      // A narrowed key must not make one that may more than it may itself, nor one that lasts longer.
      if (principal.kind !== "root" && (user !== nameOf(principal) || isNarrowed(own))) {
        throw new Problem(403, "You may make keys for yourself only, and only with a key that is not narrowed.");
      }
      if (user !== rootUser && store.accounts.findUser(user) === undefined) {
        throw new Problem(404, `There is no user ${user}; make it with PUT /api/users/${user}.`);
      }
      const policy = request.body.policy === undefined ? undefined : JSON.stringify(request.body.policy);
      if (policy !== undefined) {
        checkPolicy(policy);
      }
      const { title, expiresAt } = request.body;
      const end = endOf(own, store);
      const requested = expiresAt === undefined ? undefined : Date.parse(expiresAt);
      if (end !== null && requested !== undefined && requested > end) {
        throw new Problem(403, `A key made with this one ends with it, at ${new Date(end).toISOString()}.`);
      }
      const expires = requested ?? end ?? undefined;
      const key = await store.accounts.createKey({ kind: "AKIA", user, title, policy, expires });
      return reply.code(201).send({ ...toKeyJson(key), secretKey: key.secret });
    },
  );
  app.put<{ Params: { id: string }; Body: Static<typeof GivenKey> }>(
    "/api/access-keys/:id",
    { schema: { params: GivenKeyId, body: GivenKey } },
    async (request) => {
      requireRoot(request);
      const { user, secretKey: secret, title = "" } = request.body;
      if (store.accounts.findUser(user) === undefined) {
        throw new Problem(404, `There is no user ${user}; make it with PUT /api/users/${user}.`);
      }
      const key = await store.accounts.putKey({ id: request.params.id, secret, user, title });
      if (key === undefined) {
        throw new Problem(409, `The access key ${request.params.id} is another user's.`);
      }
      return toKeyJson(key);
    },
  );
  app.patch<{ Params: { id: string }; Body: Static<typeof KeyChange> }>(
    "/api/access-keys/:id",
    { schema: { body: KeyChange } },
    async (request) => {
      const { principal, key: own } = callerOf(request);
      const key = store.accounts.findKey(request.params.id);
      if (key === undefined || (principal.kind !== "root" && key.user !== nameOf(principal))) {
        throw new Problem(404, "There is no such access key.");
      }
      // As for making keys: a narrowed key must not bring back one that may more.
      if (principal.kind !== "root" && isNarrowed(own)) {
        throw new Problem(403, "Keys are enabled and disabled with a key that is not narrowed.");
      }
      await store.accounts.enableKey(key.id, request.body.enabled);
      return toKeyJson({ ...key, enabled: request.body.enabled ? 1 : 0 });
    },
  );
  app.delete<{ Params: { id: string } }>("/api/access-keys/:id", async (request, reply) => {
    const { principal, key: own } = callerOf(request);
    const key = store.accounts.findKey(request.params.id);
    if (key === undefined || (principal.kind !== "root" && key.user !== nameOf(principal))) {
      throw new Problem(404, "There is no such access key.");
    }
    if (principal.kind !== "root" && isNarrowed(own) && own.id !== key.id) {
      throw new Problem(403, "A key that is not narrowed deletes others; this one may delete itself.");
    }
    await store.accounts.deleteKey(key.id);
    return reply.code(204).send();
  });
}

/** Whether a key may less than its user. */
function isNarrowed({ policy, session_policy: session, claims }: AccessKey): boolean {
  return policy !== null || session !== null || claims !== null;
}

/** When the rights of a key end: of a session with the key that logged in, which is what it stands for. */
function endOf(key: AccessKey, store: ObjectStore): number | null {
  const from = key.token === null ? key : key.parent === null ? undefined : store.accounts.findKey(key.parent);
  return from?.expires ?? null;
}
