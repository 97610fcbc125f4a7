import type pg from "pg";

import { REALM_MANAGEMENT } from "../../realms/create-realm.ts";
import { publishChange } from "../../store/changes.ts";
import { type MapperOwner, insertClientScope, insertMapper, listClientScopes } from "../../store/client-scopes.ts";
import { findClient } from "../../store/clients.ts";
import { type Group, insertGroup, listGroups, replaceGroupAttributes } from "../../store/groups.ts";
import type { Realm } from "../../store/realms.ts";
import { addComposites, findRole, giveRoles, insertRole } from "../../store/roles.ts";
import { importRules } from "../authz-settings.ts";
import { addClient, changeClient, readClient } from "../client-records.ts";
import { readClientScope } from "../client-scopes.ts";
import { badRequest } from "../errors.ts";
import { readMapper } from "../mapper-records.ts";
import { readList, readObject, readText } from "../request.ts";
import { readRole } from "../role-records.ts";
import { readAttributes } from "../user-records.ts";
import type { ImportLog } from "./import-log.ts";
import { importUsers } from "./import-users.ts";
import { type NamedRoles, loadNamedRoles } from "./named-roles.ts";

export type Body = Readonly<Record<string, unknown>>;

export interface RealmImport {
  readonly db: pg.PoolClient;
  readonly realm: Realm;
  /** Of `hashPlainPasswords`. */
  readonly passwordHashes: ReadonlyMap<unknown, string>;
  readonly log: ImportLog;
  /** Whether roles that administer this realm are given to whom the document names; in a realm that is there already they are listed instead. */
  readonly givesAdministration: boolean;
}

/**
 * Brings client scopes, roles, groups, clients with their rules, and users with their passwords into a realm: the parts of Keycloak's
 * RealmRepresentation, as its exports write them. Ids of users stay, so that `sub` does.
 */
export async function importRealm(target: RealmImport, body: Body): Promise<void> {
  const { db, realm, log } = target;
  const listOf = (source: Body, name: string): readonly Body[] =>
    source[name] === undefined || source[name] === null ? [] : readList(source[name]);
  const nameOf = (item: Body, name = "name"): string => readText(item, name) ?? "";

  const scopes = new Set((await listClientScopes(db, realm.id)).map(({ name }) => name));
  for (const item of listOf(body, "clientScopes")) {
    await log.take(db, "CLIENT_SCOPE", nameOf(item), async () => {
      const fields = readClientScope(item);
      if (scopes.has(fields.name)) {
        // A scope that is there keeps its mappers: tokens of every client depend on them.
        log.skip("CLIENT_SCOPE", fields.name);
        return;
      }
      const id = await insertClientScope(db, realm.id, fields);
      await addMappers(target, { kind: "scope", id }, fields.name, listOf(item, "protocolMappers"));
      log.meet("CLIENT_SCOPE", fields.name, false);
    });
  }
  const roles = body["roles"] === undefined || body["roles"] === null ? {} : readObject(body["roles"]);
  const realmRoles = listOf(roles, "realm");
  for (const item of realmRoles) {
    await log.take(db, "REALM_ROLE", nameOf(item), () => importRole(target, null, item));
  }
  for (const item of listOf(body, "clients")) {
    await log.take(db, "CLIENT", nameOf(item, "clientId"), async () => {
      const fields = readClient(item);
      const clientId = fields.clientId ?? "";
      const present = await findClient(db, realm.id, clientId);
      if (!log.meet("CLIENT", clientId, present !== undefined)) {
        return;
      }
      // Exports hide secrets; what they show instead is none.
      const { secret, id: _, ...rest } = fields;
      const requested = { ...rest, ...(secret !== undefined && !/^\*+$/.test(secret) && { secret }) };
      if (present === undefined) {
        const id = await addClient(db, realm, requested);
        await addMappers(target, { kind: "client", id }, clientId, listOf(item, "protocolMappers"));
      } else {
        await changeClient(db, realm, present, requested);
      }
    });
  }
  const clientRoles = Object.entries(roles["client"] === undefined ? {} : readObject(roles["client"]));
  for (const [clientId, list] of clientRoles) {
    const client = await findClient(db, realm.id, clientId);
    if (client === undefined) {
      const why = "roles.client names a client that the realm does not have";
      log.leaveOut("CLIENT_ROLE", clientId, why);
      continue;
    }
    for (const item of readList(list)) {
      await log.take(db, "CLIENT_ROLE", `${clientId}/${nameOf(item)}`, () => importRole(target, client.id, item));
    }
  }
  const named = await loadNamedRoles(target);
  for (const [clientId, list] of [["", realmRoles] as const, ...clientRoles]) {
    for (const item of readList(list)) {
      await importComposites(target, named, clientId, item);
    }
  }
  const present = new Map((await listGroups(db, realm.id)).map((group) => [group.path, group]));
  await importGroups(target, { named, present }, listOf(body, "groups"), undefined);
  await importUsers(target, named, listOf(body, "users"));
  // Rules speak of users, groups, roles and clients: those are there now.
  for (const item of listOf(body, "clients")) {
    const clientId = nameOf(item, "clientId");
    const client = await findClient(db, realm.id, clientId);
    if (client?.settings.authorizationServicesEnabled === true && item["authorizationSettings"] !== undefined) {
      await log.take(db, "AUTHORIZATION_SETTINGS", clientId, () =>
        importRules({ realm, body: item["authorizationSettings"] }, client, db),
      );
    }
  }
  await publishChange(db, { kind: "realm", realm: realm.name });
  await publishChange(db, { kind: "policy", realm: realm.name });
}

async function importRole({ db, realm, log }: RealmImport, client: string | null, item: Body): Promise<void> {
  const fields = readRole(item);
  const present = await findRole(db, realm.id, client, fields.name);
  const kind = client === null ? "REALM_ROLE" : "CLIENT_ROLE";
  if (log.meet(kind, fields.name, present !== undefined) && present === undefined) {
    await insertRole(db, realm.id, { client, ...fields });
  }
}

/** The roles that a role holds: `composites: {realm: […], client: {<clientId>: […]}}`. Those that administer hold here what they always do. */
async function importComposites(target: RealmImport, named: NamedRoles, clientId: string, item: Body): Promise<void> {
  const parent = clientId === REALM_MANAGEMENT ? undefined : named.find(clientId, readText(item, "name") ?? "");
  if (parent === undefined || item["composites"] === undefined || item["composites"] === null) {
    return;
  }
  const composites = readObject(item["composites"]);
  const what = `${clientId === "" ? "" : `${clientId}/`}${parent.name}`;
  const children = named.readHeld({ realm: composites["realm"], clients: composites["client"] }, "ROLE", what);
  await addComposites(
    target.db,
    parent.id,
    children.map(({ id }) => id).filter((id) => id !== parent.id),
  );
}

interface Known {
  readonly named: NamedRoles;
  /** Groups of the realm by their paths, as they were before. */
  readonly present: ReadonlyMap<string, Group>;
}

async function importGroups(
  target: RealmImport,
  known: Known,
  items: readonly Body[],
  parent: Group | undefined,
): Promise<void> {
  const { db, realm, log } = target;
  for (const item of items) {
    const name = readText(item, "name") ?? "";
    if (name === "" || name.includes("/")) {
      throw badRequest("name of a group must be a text without slashes");
    }
    const path = `${parent?.path ?? ""}/${name}`;
    const present = known.present.get(path);
    log.meet("GROUP", path, present !== undefined);
    const attributes = readAttributes(item["attributes"]) ?? {};
    const id = present?.id ?? (await insertGroup(db, realm.id, { name, parent }));
    if (present === undefined) {
      await replaceGroupAttributes(db, id, attributes);
      const held = known.named.readHeld({ realm: item["realmRoles"], clients: item["clientRoles"] }, "GROUP", path);
      await giveRoles(
        db,
        { kind: "group", id },
        held.map((role) => role.id),
      );
    }
    const group = present ?? { id, name, path, parent: parent?.id, attributes };
    const children = item["subGroups"] === undefined ? [] : readList(item["subGroups"]);
    await importGroups(target, known, children, group);
  }
}

async function addMappers(
  { db, log }: RealmImport,
  owner: MapperOwner,
  of: string,
  items: readonly Body[],
): Promise<void> {
  for (const item of items) {
    const name = `${of}/${readText(item, "name") ?? ""}`;
    await log.takeInner("PROTOCOL_MAPPER", name, async () => {
      await insertMapper(db, owner, { ...readMapper(item), id: undefined });
    });
  }
}
