import { BACK_CHANNEL_SESSION, BACK_CHANNEL_URL } from "../protocol/back-channel-logout.ts";
import type { ProtectedResource } from "@swath/manifest";
import { inTransaction } from "@swath/postgres/pool";
import type { Logger } from "@swath/service";
import type pg from "pg";

import { addClient, changeClient } from "../admin/client-records.ts";
import { addUser } from "../admin/user-records.ts";
import type { PasswordHasher } from "../login/hasher.ts";
import { LOGIN_CLIENT_MAPPERS } from "../variant-b/client-mappers.ts";
import { ensureLoginScopes } from "../variant-b/login-scopes.ts";
import { ADMIN_ROLE, REALM_MANAGEMENT, createRealm } from "../realms/create-realm.ts";
import { findPolicyByName, listPolicies, putPolicy } from "../store/authz-policies.ts";
import { insertResource, listResources, updateResource } from "../store/authz-resources.ts";
import { DEVICE_GRANT_ATTRIBUTE } from "../protocol/device-authorization.ts";
import { PLATFORM_MAPPER } from "../claims/platform-mapper.ts";
import { publishChange } from "../store/changes.ts";
import { insertMapper } from "../store/client-scopes.ts";
import { type Client, OTHER_SECRET, findClient } from "../store/clients.ts";
import type { Queryable } from "../store/database.ts";
import { type Realm, findRealm, listRealms } from "../store/realms.ts";
import { ensureRole, findRole, giveRoles } from "../store/roles.ts";
import { assignedPolicies } from "../policy/assignments.ts";
import { announceRules } from "../store/resource-servers.ts";
import { publishUserChange, findPassword, findUserByName, setPasswordHash } from "../store/users.ts";
import type { DeclaredClient } from "./declared-clients.ts";
import type { DeclaredUser } from "./test-users.ts";

interface SetUpOptions {
  readonly pool: pg.Pool;
  readonly logger: Logger;
  readonly hasher: PasswordHasher;
  readonly realm: string;
  readonly adminUser: string;
  readonly adminPassword: string;
  readonly adminClient: string;
  /** Make the scopes of the login service (variant B). */
  readonly loginScopes?: boolean;
  readonly testUsers: readonly DeclaredUser[];
  readonly clients: readonly DeclaredClient[];
}

/**
 * Brings realm, administrator, test users and the declared clients to what the deployment says. The deployment owns the
 * administrator's password, and of each declared client its secret, redirect URIs and declared resources; test users are made
 * once and then left alone, and nothing is ever deleted. Each part is one transaction, so it may be ended and begun again.
 * @throws {Error} when the realm does not exist
 */
export async function setUp(options: SetUpOptions): Promise<void> {
  const { pool, logger } = options;
  const master = await ensureMaster(pool);
  const realm = options.realm === "master" ? master : await findRealm(pool, options.realm);
  if (realm === undefined) {
    const names = (await listRealms(pool)).map(({ name }) => name).join(", ");
    throw new Error(
      `IDENTITY_REALM=${options.realm}: there is no such realm; existing: ${names}. Create it in the identity console, or leave IDENTITY_REALM at master.`,
    );
  }
  await ensureAdmin(options, master);
  if (realm.id !== master.id) {
    await ensureAdmin(options, realm);
  }
  if (options.loginScopes === true) {
    await inTransaction(pool, (db) => ensureLoginScopes(db, realm));
  }
  await inTransaction(pool, (db) => ensureAdminClient(db, realm, options.adminClient));
  await inTransaction(pool, (db) => ensureProgramClient(db, realm));
  await ensureTestUsers(options, realm);
  for (const client of options.clients) {
    await inTransaction(pool, (db) => ensureClient(db, realm, client, options.loginScopes === true));
    logger.info({ client: client.clientId, resources: client.resources?.length ?? 0 }, "client is as declared");
  }
}

async function ensureMaster(pool: pg.Pool): Promise<Realm> {
  return inTransaction(pool, async (db) => {
    await db.query("select pg_advisory_xact_lock(hashtext('identity set-up'))");
    return (await findRealm(db, "master")) ?? (await createRealm(db, { name: "master" }));
  });
}

async function ensureAdmin({ pool, hasher, adminUser, adminPassword }: SetUpOptions, realm: Realm): Promise<void> {
  const existing = await findUserByName(pool, realm.id, adminUser);
  const stored = existing && (await findPassword(pool, existing.id));
  const isRight = stored !== undefined && (await hasher.verify(stored.hash, adminPassword));
  const hash = isRight ? undefined : await hasher.hash(adminPassword);
  await inTransaction(pool, async (db) => {
    const id = existing?.id ?? (await addUser(db, realm, { username: adminUser, enabled: true }, undefined));
    if (hash !== undefined) {
      await setPasswordHash(db, id, { hash, temporary: false });
    }
    // The platform's services know administrators by this role; in realm master it administers the identity service as well.
    const role = await ensureRole(db, realm.id, { client: null, name: ADMIN_ROLE });
    const roles = realm.name === "master" ? [role] : [role, await findManagementRole(db, realm, "realm-admin")];
    await giveRoles(db, { kind: "user", id }, roles);
    await publishUserChange(db, realm.name, id);
  });
}

async function findManagementRole(db: Queryable, realm: Realm, name: string): Promise<string> {
  const management = await findClient(db, realm.id, REALM_MANAGEMENT);
  const role = management && (await findRole(db, realm.id, management.id, name));
  if (role === undefined) {
    throw new Error(`realm ${realm.name} lacks the role ${name}`);
  }
  return role.id;
}

async function ensureAdminClient(db: Queryable, realm: Realm, clientId: string): Promise<void> {
  if ((await findClient(db, realm.id, clientId)) === undefined) {
    const id = await addClient(db, realm, {
      clientId,
      settings: { name: "Administration from a command line", publicClient: true, standardFlowEnabled: false },
    });
    await insertMapper(db, { kind: "client", id }, PLATFORM_MAPPER);
  }
}

/** The client of the platform's own programs, which log people in by the device grant. */
const PROGRAM_CLIENT = "swath-cli";

async function ensureProgramClient(db: Queryable, realm: Realm): Promise<void> {
  if ((await findClient(db, realm.id, PROGRAM_CLIENT)) === undefined) {
    const id = await addClient(db, realm, {
      clientId: PROGRAM_CLIENT,
      settings: {
        name: "Swath on a command line",
        publicClient: true,
        standardFlowEnabled: false,
        directAccessGrantsEnabled: false,
        attributes: { [DEVICE_GRANT_ATTRIBUTE]: "true" },
      },
    });
    await insertMapper(db, { kind: "client", id }, PLATFORM_MAPPER);
  }
}

async function ensureTestUsers({ pool, hasher, testUsers }: SetUpOptions, realm: Realm): Promise<void> {
  for (const { username, password } of testUsers) {
    if ((await findUserByName(pool, realm.id, username)) === undefined) {
      const hash = await hasher.hash(password);
      await inTransaction(pool, (db) => addUser(db, realm, { username, enabled: true }, { hash, temporary: false }));
    }
  }
}

async function ensureClient(
  db: Queryable,
  realm: Realm,
  declared: DeclaredClient,
  hasLoginFace: boolean,
): Promise<void> {
  const { clientId, name, description, secret, redirectUris, webOrigins, resources, tokensForPlatform } = declared;
  const { managementRoles } = declared;
  const isPublic = secret === undefined;
  const existing = await findClient(db, realm.id, clientId);
  const { [OTHER_SECRET]: _ended, ...attributes } = existing?.settings.attributes ?? {};
  const fields = {
    clientId,
    secret,
    settings: {
      name,
      ...(description !== undefined && { description }),
      publicClient: isPublic,
      ...(redirectUris && { redirectUris }),
      ...(webOrigins && { webOrigins }),
      attributes: {
        ...attributes,
        ...(declared.otherSecret !== undefined && { [OTHER_SECRET]: declared.otherSecret }),
        ...(declared.backChannelLogoutUri !== undefined && {
          [BACK_CHANNEL_URL]: declared.backChannelLogoutUri,
          [BACK_CHANNEL_SESSION]: "true",
        }),
      },
      ...(!isPublic && { serviceAccountsEnabled: true, authorizationServicesEnabled: managementRoles === undefined }),
      ...(managementRoles && { standardFlowEnabled: false, redirectUris: [], webOrigins: [] }),
    },
  };
  if (existing === undefined) {
    await addClient(db, realm, { ...fields, settings: { redirectUris: ["*"], webOrigins: ["*"], ...fields.settings } });
  } else {
    await changeClient(db, realm, existing, fields);
  }
  const client = (await findClient(db, realm.id, clientId)) as Client;
  if (tokensForPlatform && !client.mappers.some(({ name }) => name === PLATFORM_MAPPER.name)) {
    for (const mapper of hasLoginFace ? LOGIN_CLIENT_MAPPERS : [PLATFORM_MAPPER]) {
      await insertMapper(db, { kind: "client", id: client.id }, mapper);
    }
    await publishChange(db, { kind: "client", realm: realm.name, clientId });
  }
  if (managementRoles !== undefined && client.serviceUserId !== undefined) {
    const ids: string[] = [];
    for (const role of managementRoles) {
      ids.push(await findManagementRole(db, realm, role));
    }
    await giveRoles(db, { kind: "user", id: client.serviceUserId }, ids);
    await publishUserChange(db, realm.name, client.serviceUserId);
  }
  for (const resource of resources ?? []) {
    await ensureResource(db, realm, client, resource);
  }
  await announceRules(db, realm.name, client);
}

/** A declared resource with one policy for each kind of people named, and a permission that one of them is enough for. */
async function ensureResource(db: Queryable, realm: Realm, client: Client, declared: ProtectedResource): Promise<void> {
  const { name, uris, scopes = ["view"], users = [], roles = [], authenticated = false } = declared;
  const [existing] = await listResources(db, client.id, { name, exactName: true });
  const fields = { name, uris, scopes, owner: existing?.owner ?? client.id };
  const resource = existing?.id ?? (await insertResource(db, client.id, fields));
  if (existing !== undefined) {
    await updateResource(db, client.id, existing.id, { ...existing, ...fields });
  }
  const put = async (
    policyName: string,
    type: string,
    config: object,
    ties: { resources?: string[]; policies?: string[] } = {},
  ) => {
    const known = await findPolicyByName(db, client.id, policyName);
    // What administrators assigned stays.
    const assigned = known && type === "resource" ? assignedPolicies(known, await listPolicies(db, client.id)) : [];
    return putPolicy(db, client.id, known?.id, {
      name: policyName,
      description: "Declared by the deployment",
      type,
      logic: "POSITIVE",
      decisionStrategy: type === "resource" ? "AFFIRMATIVE" : "UNANIMOUS",
      config: config as Record<string, unknown>,
      resources: ties.resources ?? [],
      scopes: [],
      policies: [...(ties.policies ?? []), ...assigned],
    });
  };
  const policies: string[] = [];
  if (users.length > 0) {
    const found = await Promise.all(users.map((username) => findUserByName(db, realm.id, username)));
    policies.push(await put(`${name} User Policy`, "user", { users: found.flatMap((user) => user?.id ?? []) }));
  }
  if (roles.length > 0) {
    const ids = await Promise.all(roles.map((role) => ensureRole(db, realm.id, { client: null, name: role })));
    policies.push(await put(`${name} Role Policy`, "role", { roles: ids.map((id) => ({ id, required: false })) }));
  }
  if (authenticated) {
    policies.push(await put(`${name} Authenticated Policy`, "authenticated", {}));
  }
  if (policies.length > 0) {
    await put(`${name} Permission`, "resource", {}, { resources: [resource], policies });
  }
}
