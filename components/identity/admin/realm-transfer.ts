import type { FastifyInstance } from "fastify";
import type pg from "pg";

import type { IdentityContext } from "../context.ts";
import { publishChange } from "../store/changes.ts";
import { findClient, listClients } from "../store/clients.ts";
import { type MapperOwner, insertClientScope, insertMapper, listClientScopes } from "../store/client-scopes.ts";
import { type Group, insertGroup, listGroups, replaceGroupAttributes } from "../store/groups.ts";
import { findResourceServer } from "../store/resource-servers.ts";
import { type Role, findRole, insertRole, listRoles } from "../store/roles.ts";
import { findUserByName } from "../store/users.ts";
import { exportRules, importRules } from "./authz-settings.ts";
import { addClient, changeClient, readClient, toClientRepresentation } from "./client-records.ts";
import { readClientScope, toClientScopeRepresentation } from "./client-scopes.ts";
import { AdminError, badRequest } from "./errors.ts";
import { toGroupTree } from "./groups.ts";
import { readMapper } from "./mapper-records.ts";
import { toRealmRepresentation } from "./realms.ts";
import { type AdminRequest, forRoles, readList, readObject, readText } from "./request.ts";
import { readRole, toRoleRepresentation } from "./role-records.ts";
import { addUser, readAttributes, readUser } from "./user-records.ts";

type Body = Readonly<Record<string, unknown>>;
type OnConflict = "FAIL" | "SKIP" | "OVERWRITE";

/** A realm as one document, out and in. Users and passwords are not part of what goes out. */
export function addRealmTransferRoutes(app: FastifyInstance, context: IdentityContext): void {
  const base = "/admin/realms/:realm";
  app.post(
    `${base}/partial-export`,
    forRoles(context, ["manage-realm"], (request) => exportRealm(request)),
  );
  app.post(
    `${base}/partialImport`,
    forRoles(context, ["manage-realm"], async (request) => {
      const results = await request.change(
        { operation: "ACTION", resourceType: "REALM", resourcePath: "partialImport" },
        (db) => importRealm(request, db),
      );
      const count = (action: string) => results.filter((result) => result.action === action).length;
      return { overwritten: count("OVERWRITTEN"), added: count("ADDED"), skipped: count("SKIPPED"), results };
    }),
  );
}

async function exportRealm({ context, handle, query }: AdminRequest): Promise<object> {
  const { pool } = context;
  const { realm } = handle;
  const show = (role: Role) => toRoleRepresentation(realm.id, role);
  const withClients = query["exportClients"] === "true";
  const withRoles = query["exportGroupsAndRoles"] === "true";
  const clients = withClients || withRoles ? await listClients(pool, realm.id, { first: 0, max: 10_000 }) : [];
  const scopes = await listClientScopes(pool, realm.id);
  return {
    ...toRealmRepresentation(realm),
    clientScopes: scopes.map(toClientScopeRepresentation),
    ...(withRoles && {
      groups: toGroupTree(await listGroups(pool, realm.id)),
      roles: {
        realm: (await listRoles(pool, realm.id, null)).map(show),
        client: Object.fromEntries(
          await Promise.all(
            clients.map(
              async ({ id, clientId }) => [clientId, (await listRoles(pool, realm.id, id)).map(show)] as const,
            ),
          ),
        ),
      },
    }),
    ...(withClients && {
      clients: await Promise.all(
        clients.map(async (client) => {
          const server = await findResourceServer(pool, client.id);
          const { secret, ...shown } = toClientRepresentation(client);
          return {
            ...shown,
            // Who reads an export must not be able to act as a client.
            ...(secret !== undefined && { secret: "**********" }),
            ...(server && { authorizationSettings: await exportRules(context, client, server) }),
          };
        }),
      ),
    }),
  };
}

interface ImportResult {
  readonly action: "ADDED" | "SKIPPED" | "OVERWRITTEN";
  readonly resourceType: string;
  readonly resourceName: string;
}

async function importRealm(request: AdminRequest, db: pg.PoolClient): Promise<readonly ImportResult[]> {
  const { handle } = request;
  const { realm } = handle;
  const body = readObject(request.body);
  const policy = readText(body, "ifResourceExists") ?? "FAIL";
  if (policy !== "FAIL" && policy !== "SKIP" && policy !== "OVERWRITE") {
    throw badRequest(`ifResourceExists is ${JSON.stringify(policy)}; allowed: FAIL, SKIP, OVERWRITE`);
  }
  const results: ImportResult[] = [];
  const note = (resourceType: string, resourceName: string, exists: boolean): boolean => {
    const action = exists ? meetConflict(policy, resourceType, resourceName) : "ADDED";
    results.push({ action, resourceType, resourceName });
    return action !== "SKIPPED";
  };
  const listOf = (source: Body, name: string): readonly Body[] =>
    source[name] === undefined || source[name] === null ? [] : readList(source[name]);

  const scopes = new Set((await listClientScopes(db, realm.id)).map(({ name }) => name));
  for (const item of listOf(body, "clientScopes")) {
    const fields = readClientScope(item);
    if (scopes.has(fields.name)) {
      // A scope that is there keeps its mappers: tokens of every client depend on them.
      results.push({ action: "SKIPPED", resourceType: "CLIENT_SCOPE", resourceName: fields.name });
      continue;
    }
    const id = await insertClientScope(db, realm.id, fields);
    await addMappers(db, { kind: "scope", id }, listOf(item, "protocolMappers"));
    results.push({ action: "ADDED", resourceType: "CLIENT_SCOPE", resourceName: fields.name });
  }
  const roles = body["roles"] === undefined ? {} : readObject(body["roles"]);
  for (const item of listOf(roles, "realm")) {
    await importRole(db, realm.id, null, item, note);
  }
  await importGroups(db, realm.id, listOf(body, "groups"), undefined, note);
  for (const item of listOf(body, "users")) {
    const fields = readUser(item);
    const { username = "", id: _, ...rest } = fields;
    const present = await findUserByName(db, realm.id, username);
    if (present !== undefined) {
      if (policy === "FAIL") {
        meetConflict(policy, "USER", username);
      }
      results.push({ action: "SKIPPED", resourceType: "USER", resourceName: username });
      continue;
    }
    await addUser(db, realm, { username, ...rest }, undefined);
    results.push({ action: "ADDED", resourceType: "USER", resourceName: username });
  }
  for (const item of listOf(body, "clients")) {
    const fields = readClient(item);
    const present = await findClient(db, realm.id, fields.clientId ?? "");
    if (!note("CLIENT", fields.clientId ?? "", present !== undefined)) {
      continue;
    }
    // Exports hide secrets; what they show instead is none.
    const { secret, id: _, ...rest } = fields;
    const requested = { ...rest, ...(secret !== undefined && !/^\*+$/.test(secret) && { secret }) };
    if (present === undefined) {
      const id = await addClient(db, realm, requested);
      await addMappers(db, { kind: "client", id }, listOf(item, "protocolMappers"));
    } else {
      await changeClient(db, realm, present, requested);
    }
  }
  for (const [clientId, list] of Object.entries(roles["client"] === undefined ? {} : readObject(roles["client"]))) {
    const client = await findClient(db, realm.id, clientId);
    if (client === undefined) {
      throw badRequest(`roles.client names ${JSON.stringify(clientId)}, which is no client of the realm`);
    }
    for (const item of readList(list)) {
      await importRole(db, realm.id, client.id, item, note);
    }
  }
  // Rules speak of users, groups, roles and clients: those are there now.
  for (const item of listOf(body, "clients")) {
    const client = await findClient(db, realm.id, readText(item, "clientId") ?? "");
    if (client?.settings.authorizationServicesEnabled === true && item["authorizationSettings"] !== undefined) {
      await importRules({ handle, body: item["authorizationSettings"] }, client, db);
    }
  }
  await publishChange(db, { kind: "realm", realm: realm.name });
  await publishChange(db, { kind: "policy", realm: realm.name });
  return results;
}

function meetConflict(policy: OnConflict, resourceType: string, name: string): "SKIPPED" | "OVERWRITTEN" {
  if (policy === "FAIL") {
    throw new AdminError(
      409,
      `${resourceType} ${JSON.stringify(name)} already exists. Use ifResourceExists SKIP or OVERWRITE.`,
    );
  }
  return policy === "SKIP" ? "SKIPPED" : "OVERWRITTEN";
}

type Note = (resourceType: string, name: string, exists: boolean) => boolean;

async function importRole(db: pg.PoolClient, realmId: string, client: string | null, item: Body, note: Note) {
  const fields = readRole(item);
  const present = await findRole(db, realmId, client, fields.name);
  if (
    note(client === null ? "REALM_ROLE" : "CLIENT_ROLE", fields.name, present !== undefined) &&
    present === undefined
  ) {
    await insertRole(db, realmId, { client, ...fields });
  }
}

async function importGroups(
  db: pg.PoolClient,
  realmId: string,
  items: readonly Body[],
  parent: Group | undefined,
  note: Note,
): Promise<void> {
  const known = await listGroups(db, realmId);
  for (const item of items) {
    const name = readText(item, "name") ?? "";
    if (name === "" || name.includes("/")) {
      throw badRequest("name of a group must be a text without slashes");
    }
    const path = `${parent?.path ?? ""}/${name}`;
    const present = known.find((group) => group.path === path);
    note("GROUP", path, present !== undefined);
    const attributes = readAttributes(item["attributes"]) ?? {};
    const id = present?.id ?? (await insertGroup(db, realmId, { name, parent }));
    if (present === undefined) {
      await replaceGroupAttributes(db, id, attributes);
    }
    const group = present ?? { id, name, path, parent: parent?.id, attributes };
    const children = item["subGroups"] === undefined ? [] : readList(item["subGroups"]);
    await importGroups(db, realmId, children, group, note);
  }
}

async function addMappers(db: pg.PoolClient, owner: MapperOwner, items: readonly Body[]): Promise<void> {
  for (const item of items) {
    await insertMapper(db, owner, { ...readMapper(item), id: undefined });
  }
}
