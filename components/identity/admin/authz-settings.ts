import type { FastifyInstance } from "fastify";
import type pg from "pg";

import type { IdentityContext } from "../context.ts";
import type { Realm } from "../store/realms.ts";
import { findPolicyByName, listPolicies, putPolicy } from "../store/authz-policies.ts";
import { insertResource, insertScope, listResources, listScopes, updateResource } from "../store/authz-resources.ts";
import type { Client } from "../store/clients.ts";
import { type ResourceServer, announceRules } from "../store/resource-servers.ts";
import {
  AUTHZ_BASE,
  changeRules,
  openResourceServer,
  readResource,
  toResourceRepresentation,
} from "./authz-resources.ts";
import { notFound } from "./errors.ts";
import { loadMemberNames, nameMembers } from "./member-names.ts";
import { readPolicy, readType, toPolicyRepresentation } from "./policy-records.ts";
import { forRoles, readList, readObject, readText } from "./request.ts";

/** The rules of a client as one document, out and in, and what hangs on a scope. */
export function addAuthzSettingsRoutes(app: FastifyInstance, context: IdentityContext): void {
  const { pool } = context;
  const view = ["view-authorization", "view-clients"] as const;
  app.get(
    `${AUTHZ_BASE}/settings`,
    forRoles(context, view, async (request) => {
      const { client, server } = await openResourceServer(request);
      return exportRules(context, client, server);
    }),
  );
  app.post(
    `${AUTHZ_BASE}/import`,
    forRoles(context, ["manage-authorization", "manage-clients"], async (request) => {
      const { client } = await openResourceServer(request);
      await changeRules(request, client, "UPDATE", "import", (db) =>
        importRules({ realm: request.handle.realm, body: request.body }, client, db),
      );
      return request.reply.code(204).send();
    }),
  );
  for (const [what, list] of [
    [
      "resources",
      async (client: Client, scope: string) =>
        (await listResources(pool, client.id))
          .filter(({ scopes }) => scopes.some(({ id }) => id === scope))
          .map((resource) => toResourceRepresentation(resource, client)),
    ],
    [
      "permissions",
      async (client: Client, scope: string) =>
        (await listPolicies(pool, client.id, { permission: true }))
          .filter(({ scopes }) => scopes.includes(scope))
          .map(toPolicyRepresentation),
    ],
  ] as const) {
    app.get(
      `${AUTHZ_BASE}/scope/:scope/${what}`,
      forRoles(context, view, async (request) => {
        const { client } = await openResourceServer(request);
        const scope = (await listScopes(pool, client.id)).find(({ id }) => id === request.params["scope"]);
        if (scope === undefined) {
          throw notFound("Scope");
        }
        return list(client, scope.id);
      }),
    );
  }
}

/** The rules as a document; what refers to resources, scopes and policies does so by name. */
export async function exportRules({ pool }: IdentityContext, client: Client, server: ResourceServer): Promise<object> {
  const [resources, scopes, policies] = await Promise.all([
    listResources(pool, client.id),
    listScopes(pool, client.id),
    listPolicies(pool, client.id),
  ]);
  const names = await loadMemberNames(pool, policies);
  const nameOf = (list: readonly { id: string; name: string }[]) => (id: string) =>
    list.find((item) => item.id === id)?.name ?? id;
  return {
    allowRemoteResourceManagement: server.allowRemote,
    policyEnforcementMode: server.enforcementMode,
    decisionStrategy: server.decisionStrategy,
    resources: resources.map((resource) => ({
      ...toResourceRepresentation(resource, client),
      scopes: resource.scopes.map(({ name }) => ({ name })),
    })),
    scopes: scopes.map(({ id, name, displayName }) => ({
      id,
      name,
      ...(displayName !== undefined && { displayName }),
    })),
    // What others refer to comes first, so that reading the document finds it. What owners share stays: they are not known elsewhere.
    policies: policies
      .filter(({ owner }) => owner === undefined)
      .toSorted((one, other) => rankOf(one.type) - rankOf(other.type))
      .map((policy) => ({
        ...toPolicyRepresentation(policy),
        ...nameMembers(policy, names),
        resources: policy.resources.map(nameOf(resources)),
        scopes: policy.scopes.map(nameOf(scopes)),
        policies: policy.policies.map(nameOf(policies)),
      })),
  };
}

const rankOf = (type: string): number => ["aggregate", "resource", "scope"].indexOf(type) + 1;

type Db = pg.PoolClient;

/** Adds what a document has and the client has not, and replaces what has the same name. */
export async function importRules(
  { realm, body }: { readonly realm: Realm; readonly body: unknown },
  client: Client,
  db: Db,
): Promise<void> {
  const document = readObject(body);
  const listOf = (name: string) => (document[name] === undefined ? [] : readList(document[name]));
  const known = await listScopes(db, client.id);
  for (const scope of listOf("scopes")) {
    const name = readText(scope, "name") ?? "";
    if (name !== "" && !known.some((one) => one.name === name)) {
      await insertScope(db, client.id, {
        name,
        displayName: readText(scope, "displayName"),
        iconUri: readText(scope, "iconUri", 2048),
      });
    }
  }
  for (const item of listOf("resources")) {
    // Owners of another realm or deployment are not known here.
    const { owner: _, ...rest } = item;
    const requested = readResource(rest, client);
    const [same] = await listResources(db, client.id, { name: requested.name, exactName: true, owner: client.id });
    if (same === undefined) {
      await insertResource(db, client.id, requested);
    } else {
      await updateResource(db, client.id, same.id, requested);
    }
  }
  for (const item of listOf("policies")) {
    const typeName = readText(item, "type") ?? "";
    const kind = typeName === "resource" || typeName === "scope" ? "permission" : "policy";
    const present = await findPolicyByName(db, client.id, readText(item, "name") ?? "");
    const fields = await readPolicy({ db, realmId: realm.id, client }, readType(typeName, kind), item, present);
    await putPolicy(db, client.id, present?.id, fields);
  }
  await announceRules(db, realm.name, client);
}
