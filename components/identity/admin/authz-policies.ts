import type { FastifyInstance } from "fastify";

import type { IdentityContext } from "../context.ts";
import {
  deletePolicy,
  findPolicy,
  findPolicyByName,
  isPermission,
  listPolicies,
  putPolicy,
} from "../store/authz-policies.ts";
import { listResources, listScopes } from "../store/authz-resources.ts";
import { isUuid } from "../store/database.ts";
import { AUTHZ_BASE, changeRules, openResourceServer, toResourceRepresentation } from "./authz-resources.ts";
import { AdminError, badRequest, notFound } from "./errors.ts";
import { readPolicy, readType, toPolicyRepresentation } from "./policy-records.ts";
import { type AdminRequest, forRoles, readObject, readPage, readText } from "./request.ts";

/** Policies and permissions of a client that protects resources. */
export function addAuthzPolicyRoutes(app: FastifyInstance, context: IdentityContext): void {
  for (const kind of ["policy", "permission"] as const) {
    addKind(app, context, kind);
  }
}

function addKind(app: FastifyInstance, context: IdentityContext, kind: "policy" | "permission"): void {
  const { pool } = context;
  const base = `${AUTHZ_BASE}/${kind}`;
  const view = ["view-authorization", "view-clients"] as const;
  const manage = ["manage-authorization", "manage-clients"] as const;
  const what = kind === "policy" ? "Policy" : "Permission";

  const open = async (request: AdminRequest) => {
    const { client } = await openResourceServer(request);
    const id = request.params["policy"] ?? "";
    const policy = isUuid(id) ? await findPolicy(pool, client.id, id) : undefined;
    // Below policy/ both are found, as existing clients expect.
    if (policy === undefined || (kind === "permission" && !isPermission(policy))) {
      throw notFound(what);
    }
    return { client, policy };
  };
  const list = async (request: AdminRequest, type: string | undefined) => {
    const { client } = await openResourceServer(request);
    const { query } = request;
    const requested = query["permission"];
    const permission = kind === "permission" || (requested === undefined ? undefined : requested === "true");
    const resource = query["resource"];
    const found = await listPolicies(pool, client.id, {
      name: query["name"],
      type: type ?? query["type"],
      permission,
      ...(resource !== undefined && isUuid(resource) && { resource }),
      ...readPage(query, -1),
    });
    return found.map(toPolicyRepresentation);
  };
  const create = async (request: AdminRequest, typeName: string) => {
    const { handle, reply } = request;
    const { client } = await openResourceServer(request);
    const body = readObject(request.body);
    const fields = await readPolicy({ db: pool, realmId: handle.realm.id, client }, readType(typeName, kind), body);
    if ((await findPolicyByName(pool, client.id, fields.name)) !== undefined) {
      throw new AdminError(409, `Policy with name [${fields.name}] already exists`);
    }
    const id = await changeRules(request, client, "CREATE", `${kind}/${fields.name}`, (db) =>
      putPolicy(db, client.id, undefined, fields),
    );
    return reply.code(201).send({ ...readObject(request.body), ...toPolicyRepresentation({ id, ...fields }) });
  };
  const replace = async (request: AdminRequest) => {
    const { client, policy } = await open(request);
    const fields = await readPolicy(
      { db: pool, realmId: request.handle.realm.id, client },
      policy.type,
      readObject(request.body),
      policy,
    );
    await changeRules(request, client, "UPDATE", `${kind}/${policy.id}`, (db) =>
      putPolicy(db, client.id, policy.id, fields),
    );
    return request.reply.code(201).send(toPolicyRepresentation({ id: policy.id, ...fields }));
  };
  const remove = async (request: AdminRequest) => {
    const { client, policy } = await open(request);
    await changeRules(request, client, "DELETE", `${kind}/${policy.id}`, (db) =>
      deletePolicy(db, client.id, policy.id),
    );
    return request.reply.code(204).send();
  };

  app.get(
    base,
    forRoles(context, view, (request) => list(request, undefined)),
  );
  app.post(
    base,
    forRoles(context, manage, (request) => {
      const type = readText(readObject(request.body), "type");
      if (type === undefined) {
        throw badRequest("type is missing");
      }
      return create(request, type);
    }),
  );
  app.get(
    `${base}/search`,
    forRoles(context, view, async (request) => {
      const { client } = await openResourceServer(request);
      const found = await findPolicyByName(pool, client.id, request.query["name"] ?? "");
      return found === undefined ? request.reply.code(204).send() : toPolicyRepresentation(found);
    }),
  );

  // `policy/user` lists and makes those of a type; `policy/<id>` is one of any type.
  app.get(
    `${base}/:policy`,
    forRoles(context, view, async (request) => {
      const text = request.params["policy"] ?? "";
      return isUuid(text) ? toPolicyRepresentation((await open(request)).policy) : list(request, readType(text, kind));
    }),
  );
  app.post(
    `${base}/:policy`,
    forRoles(context, manage, (request) => create(request, request.params["policy"] ?? "")),
  );
  app.put(`${base}/:policy`, forRoles(context, manage, replace));
  app.delete(`${base}/:policy`, forRoles(context, manage, remove));

  for (const [suffix, show] of [
    [
      "associatedPolicies",
      async ({ client, policy }: Awaited<ReturnType<typeof open>>) =>
        (await listPolicies(pool, client.id))
          .filter(({ id }) => policy.policies.includes(id))
          .map(toPolicyRepresentation),
    ],
    [
      "resources",
      async ({ client, policy }: Awaited<ReturnType<typeof open>>) =>
        (await listResources(pool, client.id))
          .filter(({ id }) => policy.resources.includes(id))
          .map((resource) => toResourceRepresentation(resource, client)),
    ],
    [
      "scopes",
      async ({ client, policy }: Awaited<ReturnType<typeof open>>) =>
        (await listScopes(pool, client.id)).filter(({ id }) => policy.scopes.includes(id)),
    ],
    [
      "dependentPolicies",
      async ({ client, policy }: Awaited<ReturnType<typeof open>>) =>
        (await listPolicies(pool, client.id))
          .filter(({ policies }) => policies.includes(policy.id))
          .map(toPolicyRepresentation),
    ],
  ] as const) {
    app.get(
      `${base}/:policy/${suffix}`,
      forRoles(context, view, async (request) => show(await open(request))),
    );
  }
  for (const path of [`${base}/:type/:policy`]) {
    app.get(
      path,
      forRoles(context, view, async (request) => toPolicyRepresentation((await open(request)).policy)),
    );
    app.put(path, forRoles(context, manage, replace));
    app.delete(path, forRoles(context, manage, remove));
  }
}
