import { publishChange } from "../store/changes.ts";
import { type Queryable } from "../store/database.ts";
import { PLATFORM_MAPPER } from "../claims/platform-mapper.ts";
import { assignFirstScopes, insertMapper } from "../store/client-scopes.ts";
import { insertClient } from "../store/clients.ts";
import { rotateKeys } from "../store/keys.ts";
import { type NewRealm, type Realm, insertRealm } from "../store/realms.ts";
import { addComposites, ensureRole } from "../store/roles.ts";

/** The client whose roles let people manage a realm, inside it. */
export const REALM_MANAGEMENT = "realm-management";

/** Roles of `realm-management`: who has one may use that part of the admin API. `realm-admin` has them all. */
export const MANAGEMENT_ROLES = [
  "view-realm",
  "manage-realm",
  "view-users",
  "manage-users",
  "query-users",
  "view-clients",
  "manage-clients",
  "query-clients",
  "view-events",
  "manage-events",
  "view-authorization",
  "manage-authorization",
  "query-groups",
  "impersonation",
] as const;
export type ManagementRole = (typeof MANAGEMENT_ROLES)[number];

/** Realm role of `master` that may do everything in every realm. */
export const ADMIN_ROLE = "admin";

/** Makes a realm with what every realm has: signing keys, default roles, the clients of its own pages. */
export async function createRealm(db: Queryable, requested: NewRealm): Promise<Realm> {
  const realm = await insertRealm(db, requested);
  await rotateKeys(db, realm, 0);
  await db.query("select add_built_in_scopes($1)", [realm.id]);
  await ensureRole(db, realm.id, { client: null, name: "offline_access", description: "May get offline sessions" });
  await ensureRole(db, realm.id, { client: null, name: "uma_authorization", description: "May ask for permissions" });
  if (realm.name === "master") {
    await ensureRole(db, realm.id, { client: null, name: ADMIN_ROLE, description: "May do everything in every realm" });
  }
  const management = await insertClient(db, realm.id, {
    clientId: REALM_MANAGEMENT,
    secret: undefined,
    settings: { name: "Realm management", bearerOnly: true },
  });
  const admin = await ensureRole(db, realm.id, { client: management, name: "realm-admin" });
  const roles: string[] = [];
  for (const name of MANAGEMENT_ROLES) {
    roles.push(await ensureRole(db, realm.id, { client: management, name }));
  }
  await addComposites(db, admin, roles);
  for (const { clientId, name, directAccess, redirect } of [
    { clientId: "account", name: "Account", directAccess: false, redirect: `/realms/${realm.name}/account*` },
    { clientId: "admin-cli", name: "Administration from a command line", directAccess: true, redirect: undefined },
    { clientId: "security-admin-console", name: "Administration console", directAccess: false, redirect: "/*" },
  ]) {
    const id = await insertClient(db, realm.id, {
      clientId,
      secret: undefined,
      settings: {
        name,
        publicClient: true,
        directAccessGrantsEnabled: directAccess,
        standardFlowEnabled: redirect !== undefined,
        redirectUris: redirect === undefined ? [] : [redirect],
        webOrigins: redirect === undefined ? [] : ["+"],
      },
    });
    await assignFirstScopes(db, realm.id, id);
    if (clientId === "admin-cli") {
      await insertMapper(db, { kind: "client", id }, PLATFORM_MAPPER);
    }
  }
  await publishChange(db, { kind: "realm", realm: realm.name, keys: true });
  return realm;
}
