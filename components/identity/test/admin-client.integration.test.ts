// The known provider's own JavaScript client, unchanged, against the admin API.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type KeycloakAdminClient from "@keycloak/keycloak-admin-client";

import { must, namesOf, startWithAdministrator } from "./admin-client.ts";
import type { TestIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let kc: KeycloakAdminClient;
before(async () => {
  ({ identity, kc } = await startWithAdministrator());
});
after(() => identity.close());

const makeClient = async (clientId: string, more: object = {}) => (await kc.clients.create({ clientId, ...more })).id;

test("users: make, find, change, credentials, sessions, delete", async () => {
  const { id } = await kc.users.create({
    username: "dora",
    email: "dora@example.org",
    enabled: true,
    attributes: { team: ["maps"] },
    credentials: [{ type: "password", value: "a password of dora", temporary: false }],
  });
  assert.deepEqual(
    (await kc.users.find({ username: "dora", exact: true })).map((user) => user.id),
    [id],
  );
  assert.equal((await kc.users.find({ q: "team:maps" })).length, 1);
  assert.equal((await kc.users.find({ q: "team:others" })).length, 0);
  assert.ok((await kc.users.count({})) >= 5);
  assert.equal(await kc.users.count({ search: "dora" }), 1);
  await kc.users.update({ id }, { firstName: "Dora", attributes: { team: ["data"] } });
  const user = must(await kc.users.findOne({ id }));
  assert.equal(user.firstName, "Dora");
  assert.deepEqual(user.attributes, { team: ["data"] });
  assert.equal(await kc.users.findOne({ id: "00000000-0000-4000-8000-00000000dead" }), null);
  await kc.users.resetPassword({
    id,
    credential: { type: "password", value: "another one of dora", temporary: false },
  });
  assert.equal((await kc.users.getCredentials({ id }))[0]?.type, "password");
  await identity.logIn("dora", "another one of dora");
  assert.equal((await kc.users.listSessions({ id })).length, 1);
  assert.deepEqual(
    await kc.users.listOfflineSessions({ id, clientId: must((await kc.clients.find({ clientId: "portal" }))[0]?.id) }),
    [],
  );
  await kc.users.logout({ id });
  assert.deepEqual(await kc.users.listSessions({ id }), []);
  assert.deepEqual(await kc.users.listConsents({ id }), []);
  assert.deepEqual(await kc.users.listFederatedIdentities({ id }), []);
  assert.ok(must((await kc.users.getProfile()).attributes).length >= 4);
  assert.deepEqual(await kc.users.getUnmanagedAttributes({ id }), { team: ["data"] });
  await kc.users.del({ id });
  assert.equal(await kc.users.findOne({ id }), null);
});

test("groups: a tree, members, paths, defaults", async () => {
  const { id } = await kc.groups.create({ name: "teams", attributes: { kind: ["team"] } });
  const { id: child } = await kc.groups.createChildGroup({ id }, { name: "maps" });
  assert.deepEqual(namesOf(await kc.groups.listSubGroups({ parentId: id })), ["maps"]);
  assert.equal((await kc.groups.count()).count >= 2, true);
  assert.deepEqual(namesOf(await kc.groups.find({ search: "teams" })), ["teams"]);
  const group = must(await kc.groups.findOne({ id }));
  assert.deepEqual(group.attributes, { kind: ["team"] });
  await kc.groups.update({ id }, { name: "crews", attributes: { kind: ["crew"] } });
  assert.equal(must(await kc.groups.findOne({ id: child })).path, "/crews/maps");
  const found = await fetch(`${identity.url}/admin/realms/master/group-by-path/crews/maps`, {
    headers: { authorization: `Bearer ${await kc.getAccessToken()}` },
  });
  assert.equal(((await found.json()) as { id: string }).id, child);
  const eric = must((await kc.users.find({ username: "eric", exact: true }))[0]?.id);
  await kc.users.addToGroup({ id: eric, groupId: child });
  assert.deepEqual(namesOf(await kc.users.listGroups({ id: eric })), ["maps"]);
  assert.equal((await kc.users.countGroups({ id: eric })).count, 1);
  assert.deepEqual(
    must(await kc.groups.listMembers({ id: child })).map(({ username }) => username),
    ["eric"],
  );
  await kc.users.delFromGroup({ id: eric, groupId: child });
  await kc.realms.addDefaultGroup({ realm: "master", id });
  assert.deepEqual(namesOf(await kc.realms.getDefaultGroups({ realm: "master" })), ["crews"]);
  const { id: fred } = await kc.users.create({ username: "fred", enabled: true });
  assert.deepEqual(namesOf(await kc.users.listGroups({ id: fred })), ["crews"]);
  await kc.realms.removeDefaultGroup({ realm: "master", id });
  assert.deepEqual(await kc.realms.getDefaultGroups({ realm: "master" }), []);
  const role = must((await kc.roles.find()).find(({ name }) => name === "uma_authorization"));
  const payload = [{ id: must(role.id), name: must(role.name) }];
  await kc.groups.addRealmRoleMappings({ id, roles: payload });
  assert.deepEqual(namesOf(await kc.groups.listRealmRoleMappings({ id })), ["uma_authorization"]);
  assert.deepEqual(namesOf(await kc.groups.listCompositeRealmRoleMappings({ id })), ["uma_authorization"]);
  assert.ok(!namesOf(await kc.groups.listAvailableRealmRoleMappings({ id })).includes("uma_authorization"));
  assert.equal((await kc.groups.listRoleMappings({ id })).realmMappings?.length, 1);
  await kc.groups.delRealmRoleMappings({ id, roles: payload });
  await kc.groups.del({ id });
  assert.equal(await kc.groups.findOne({ id }), null);
});

test("roles: by name and by id, of the realm and of clients, composite ones, who has them", async () => {
  await kc.roles.create({ name: "viewer", description: "May look", attributes: { level: ["1"] } });
  await kc.roles.create({ name: "editor" });
  const viewer = must(await kc.roles.findOneByName({ name: "viewer" }));
  const editor = must(await kc.roles.findOneByName({ name: "editor" }));
  assert.deepEqual(viewer.attributes, { level: ["1"] });
  await kc.roles.updateByName({ name: "editor" }, { name: "editor", description: "May change" });
  assert.equal(must(await kc.roles.findOneById({ id: must(editor.id) })).description, "May change");
  await kc.roles.updateById({ id: must(editor.id) }, { name: "editor", description: "Changes" });
  const id = await makeClient("role-client");
  await kc.clients.createRole({ id, name: "runner" });
  const runner = must(await kc.clients.findRole({ id, roleName: "runner" }));
  await kc.clients.updateRole({ id, roleName: "runner" }, { name: "runner", description: "Runs" });
  assert.deepEqual(namesOf(await kc.clients.listRoles({ id })), ["runner"]);
  await kc.roles.createComposite({ roleId: must(editor.id) }, [viewer, runner]);
  assert.deepEqual(
    namesOf(await kc.roles.getCompositeRoles({ id: must(editor.id) })).toSorted((one, other) =>
      (one ?? "").localeCompare(other ?? ""),
    ),
    ["runner", "viewer"],
  );
  assert.deepEqual(namesOf(await kc.roles.getCompositeRolesForRealm({ id: must(editor.id) })), ["viewer"]);
  assert.deepEqual(namesOf(await kc.roles.getCompositeRolesForClient({ id: must(editor.id), clientId: id })), [
    "runner",
  ]);
  const bob = must((await kc.users.find({ username: "bob", exact: true }))[0]?.id);
  const roles = [{ id: must(editor.id), name: "editor" }];
  await kc.users.addRealmRoleMappings({ id: bob, roles });
  assert.ok(namesOf(await kc.users.listRealmRoleMappings({ id: bob })).includes("editor"));
  assert.ok(namesOf(await kc.users.listCompositeRealmRoleMappings({ id: bob })).includes("viewer"));
  assert.ok(!namesOf(await kc.users.listAvailableRealmRoleMappings({ id: bob })).includes("editor"));
  assert.deepEqual(namesOf(await kc.users.listCompositeClientRoleMappings({ id: bob, clientUniqueId: id })), [
    "runner",
  ]);
  assert.deepEqual(namesOf(await kc.users.listAvailableClientRoleMappings({ id: bob, clientUniqueId: id })), [
    "runner",
  ]);
  const ofClient = { id: bob, clientUniqueId: id, roles: [{ id: must(runner.id), name: "runner" }] };
  await kc.users.addClientRoleMappings(ofClient);
  assert.deepEqual(namesOf(await kc.users.listClientRoleMappings({ id: bob, clientUniqueId: id })), ["runner"]);
  assert.deepEqual(
    (await kc.clients.findUsersWithRole({ id, roleName: "runner" })).map(({ username }) => username),
    ["bob"],
  );
  assert.ok((await kc.users.listRoleMappings({ id: bob })).clientMappings);
  await kc.users.delClientRoleMappings(ofClient);
  assert.deepEqual(
    (await kc.roles.findUsersWithRole({ name: "editor" })).map(({ username }) => username),
    ["bob"],
  );
  await kc.users.delRealmRoleMappings({ id: bob, roles });
  await kc.roles.delCompositeRoles({ id: must(editor.id) }, [viewer]);
  assert.deepEqual(namesOf(await kc.roles.getCompositeRoles({ id: must(editor.id) })), ["runner"]);
  await kc.clients.delRole({ id, roleName: "runner" });
  await kc.roles.delById({ id: must(editor.id) });
  await kc.roles.delByName({ name: "viewer" });
  assert.equal(await kc.roles.findOneByName({ name: "viewer" }), null);
});

test("clients: secrets, service accounts, scopes, mappers, scope mappings, evaluation, sessions", async () => {
  const id = await makeClient("jobs", { serviceAccountsEnabled: true, redirectUris: ["https://jobs.example.org/*"] });
  assert.equal((await kc.clients.find({ clientId: "jobs" }))[0]?.id, id);
  await kc.clients.update({ id }, { clientId: "jobs", description: "Runs jobs" });
  assert.equal(must(await kc.clients.findOne({ id })).description, "Runs jobs");
  const { value } = await kc.clients.getClientSecret({ id });
  assert.notEqual((await kc.clients.generateNewClientSecret({ id })).value, value);
  assert.equal((await kc.clients.getServiceAccountUser({ id })).username, "service-account-jobs");

  const scopes = await kc.clientScopes.find();
  const phone = must(scopes.find(({ name }) => name === "phone")?.id);
  assert.ok(namesOf(await kc.clients.listDefaultClientScopes({ id })).includes("profile"));
  assert.ok(namesOf(await kc.clients.listOptionalClientScopes({ id })).includes("phone"));
  await kc.clients.delOptionalClientScope({ id, clientScopeId: phone });
  await kc.clients.addDefaultClientScope({ id, clientScopeId: phone });
  assert.ok(namesOf(await kc.clients.listDefaultClientScopes({ id })).includes("phone"));
  await kc.clients.delDefaultClientScope({ id, clientScopeId: phone });
  await kc.clients.addOptionalClientScope({ id, clientScopeId: phone });

  const mapper = {
    name: "team",
    protocol: "openid-connect",
    protocolMapper: "oidc-usermodel-attribute-mapper",
    config: { "user.attribute": "team", "claim.name": "team", "access.token.claim": "true", "id.token.claim": "true" },
  };
  await kc.clients.addProtocolMapper({ id }, mapper);
  const made = must((await kc.clients.listProtocolMappers({ id }))[0]);
  assert.equal(made.name, "team");
  await kc.clients.updateProtocolMapper(
    { id, mapperId: must(made.id) },
    { ...made, config: { ...made.config, "claim.name": "crew" } },
  );
  assert.equal(
    must(await kc.clients.findProtocolMapperById({ id, mapperId: must(made.id) })).config?.["claim.name"],
    "crew",
  );
  assert.equal((await kc.clients.findProtocolMappersByProtocol({ id, protocol: "openid-connect" })).length, 1);
  await kc.clients.addMultipleProtocolMappers({ id }, [{ ...mapper, name: "second" }]);
  const eric = must((await kc.users.find({ username: "eric", exact: true }))[0]);
  await kc.users.update({ id: must(eric.id) }, { email: "eric@example.org", attributes: { team: ["maps"] } });
  const evaluation = { id, scope: "openid", userId: must(eric.id), audience: "" };
  const access = (await kc.clients.evaluateGenerateAccessToken(evaluation)) as Record<string, unknown>;
  assert.equal(access["crew"], "maps");
  assert.equal(access["azp"], "jobs");
  assert.equal(((await kc.clients.evaluateGenerateIdToken(evaluation)) as Record<string, unknown>)["crew"], "maps");
  assert.equal(
    ((await kc.clients.evaluateGenerateUserInfo(evaluation)) as Record<string, unknown>)["email"],
    "eric@example.org",
  );
  assert.ok((await kc.clients.evaluateListProtocolMapper({ id, scope: "openid" })).length > 5);
  const granted = { id, roleContainer: "master", type: "granted" as const, scope: "openid" };
  assert.ok(namesOf(await kc.clients.evaluatePermission(granted)).includes("admin"));
  await kc.clients.delProtocolMapper({ id, mapperId: must(made.id) });

  const role = must(await kc.roles.findOneByName({ name: "offline_access" }));
  await kc.clients.addRealmScopeMappings({ id }, [role]);
  assert.deepEqual(namesOf(await kc.clients.listRealmScopeMappings({ id })), ["offline_access"]);
  assert.ok(!namesOf(await kc.clients.listAvailableRealmScopeMappings({ id })).includes("offline_access"));
  assert.deepEqual(namesOf(await kc.clients.listCompositeRealmScopeMappings({ id })), ["offline_access"]);
  assert.equal((await kc.clients.listScopeMappings({ id })).realmMappings?.length, 1);
  await kc.clients.delRealmScopeMappings({ id }, [role]);
  assert.equal((await kc.clients.getSessionCount({ id })).count, 0);
  assert.equal((await kc.clients.getOfflineSessionCount({ id })).count, 0);
  assert.deepEqual(await kc.clients.listSessions({ id }), []);
  assert.deepEqual(await kc.clients.listOfflineSessions({ id }), []);
  const installation = await kc.clients.getInstallationProviders({ id, providerId: "keycloak-oidc-keycloak-json" });
  assert.equal((JSON.parse(JSON.stringify(installation)) as { resource: string }).resource, "jobs");
  await kc.clients.del({ id });
  assert.equal(await kc.clients.findOne({ id }), null);
});

test("client scopes: make, change, mappers, defaults of the realm, scope mappings", async () => {
  const { id } = await kc.clientScopes.create({
    name: "data",
    protocol: "openid-connect",
    protocolMappers: [
      {
        name: "hard",
        protocol: "openid-connect",
        protocolMapper: "oidc-hardcoded-claim-mapper",
        config: { "claim.name": "x", "claim.value": "1" },
      },
    ],
  });
  await kc.clientScopes.update({ id }, { name: "data", description: "Data", protocol: "openid-connect" });
  assert.equal(must(await kc.clientScopes.findOne({ id })).description, "Data");
  assert.equal(must(await kc.clientScopes.findOneByName({ name: "data" })).id, id);
  await kc.clientScopes.addProtocolMapper(
    { id },
    {
      name: "more",
      protocol: "openid-connect",
      protocolMapper: "oidc-audience-mapper",
      config: { "included.custom.audience": "data" },
    },
  );
  const mappers = await kc.clientScopes.listProtocolMappers({ id });
  assert.deepEqual(namesOf(mappers), ["hard", "more"]);
  const mapperId = must(mappers[0]?.id);
  await kc.clientScopes.updateProtocolMapper({ id, mapperId }, { ...must(mappers[0]), config: { "claim.name": "y" } });
  assert.equal(must(await kc.clientScopes.findProtocolMapper({ id, mapperId })).config?.["claim.name"], "y");
  await kc.clientScopes.delProtocolMapper({ id, mapperId });
  await kc.clientScopes.addDefaultClientScope({ id });
  assert.ok(namesOf(await kc.clientScopes.listDefaultClientScopes()).includes("data"));
  const client = await makeClient("with-data");
  assert.ok(namesOf(await kc.clients.listDefaultClientScopes({ id: client })).includes("data"));
  await kc.clientScopes.delDefaultClientScope({ id });
  await kc.clientScopes.addDefaultOptionalClientScope({ id });
  assert.ok(namesOf(await kc.clientScopes.listDefaultOptionalClientScopes()).includes("data"));
  await kc.clientScopes.delDefaultOptionalClientScope({ id });
  const role = must(await kc.roles.findOneByName({ name: "offline_access" }));
  await kc.clientScopes.addRealmScopeMappings({ id }, [role]);
  assert.deepEqual(namesOf(await kc.clientScopes.listRealmScopeMappings({ id })), ["offline_access"]);
  assert.equal((await kc.clientScopes.listScopeMappings({ id })).realmMappings?.length, 1);
  await kc.clientScopes.delRealmScopeMappings({ id }, [role]);
  await kc.clientScopes.del({ id });
  assert.equal(await kc.clientScopes.findOne({ id }), null);
});

test("the realm: settings, keys, components, flows, events, sessions, attacks, server info", async () => {
  assert.ok((await kc.realms.find()).some(({ realm }) => realm === "master"));
  await kc.realms.update({ realm: "master" }, { displayName: "The platform" });
  assert.equal(must(await kc.realms.findOne({ realm: "master" })).displayName, "The platform");
  assert.equal(await kc.realms.findOne({ realm: "nothing" }), null);
  const keys = must((await kc.realms.getKeys({ realm: "master" })).keys);
  assert.ok(keys.length >= 2);
  const components = await kc.components.find({ type: "org.keycloak.keys.KeyProvider" });
  assert.equal(components.length, keys.length);
  assert.equal(
    must(await kc.components.findOne({ id: must(components[0]?.id) })).providerType,
    "org.keycloak.keys.KeyProvider",
  );
  const flows = await kc.authenticationManagement.getFlows();
  assert.ok(flows.some(({ alias }) => alias === "browser"));
  assert.ok((await kc.authenticationManagement.getExecutions({ flow: "browser" })).length >= 2);
  assert.equal(must(await kc.authenticationManagement.getFlow({ flowId: must(flows[0]?.id) })).alias, flows[0]?.alias);
  const actions = await kc.authenticationManagement.getRequiredActions();
  assert.ok(actions.some(({ alias }) => alias === "CONFIGURE_TOTP"));
  assert.ok(await kc.authenticationManagement.getRequiredActionForAlias({ alias: "UPDATE_PASSWORD" }));
  assert.deepEqual(await kc.authenticationManagement.getUnregisteredRequiredActions(), []);
  assert.ok((await kc.authenticationManagement.getAuthenticatorProviders()).length > 2);
  assert.ok((await kc.authenticationManagement.getClientAuthenticatorProviders()).length > 0);
  assert.ok((await kc.realms.findEvents({ realm: "master" })).length > 0);
  assert.ok((await kc.realms.findAdminEvents({ realm: "master" })).length > 0);
  const config = await kc.realms.getConfigEvents({ realm: "master" });
  assert.equal(config.eventsEnabled, true);
  await kc.realms.updateConfigEvents({ realm: "master" }, { eventsEnabled: true, eventsExpiration: 86_400 });
  assert.equal((await kc.realms.getConfigEvents({ realm: "master" })).eventsExpiration, 86_400);
  await kc.realms.clearEvents({ realm: "master" });
  await kc.realms.clearAdminEvents({ realm: "master" });
  assert.ok(
    (await kc.realms.getClientSessionStats({ realm: "master" })).some(({ clientId }) => clientId === "admin-cli"),
  );
  assert.ok(await kc.realms.pushRevocation({ realm: "master" }));
  const info = await kc.serverInfo.find();
  assert.ok(Object.keys(must(info.providers)).includes("protocol-mapper"));
  assert.equal((await kc.whoAmI.find({ realm: "master", currentRealm: "master" } as never)).displayName, "admin");
  await kc.cache.clearUserCache({ realm: "master" });
  const alice = must((await kc.users.find({ username: "alice", exact: true }))[0]?.id);
  await identity.logIn("alice", "wrong");
  assert.equal((await kc.attackDetection.findOne({ id: alice }))?.["numFailures"], 1);
  await kc.attackDetection.del({ id: alice });
  await identity.logIn("alice", "wrong");
  await kc.attackDetection.delAll();
  assert.equal((await kc.attackDetection.findOne({ id: alice }))?.["numFailures"], 0);
  assert.deepEqual(await kc.identityProviders.find(), []);
  await identity.logIn("alice");
  assert.equal((await kc.users.listSessions({ id: alice })).length, 1);
  const session = must((await kc.users.listSessions({ id: alice }))[0]?.id);
  await kc.realms.deleteSession({ realm: "master", session, isOffline: false });
  assert.deepEqual(await kc.users.listSessions({ id: alice }), []);
});

test("a realm is exported, imported into another, and deleted", async () => {
  const document = await kc.realms.export({ realm: "master", exportClients: true, exportGroupsAndRoles: true });
  const exported = must(document.clients);
  assert.ok(exported.some(({ clientId }) => clientId === "dummy-service"));
  assert.ok(
    exported.every(({ secret }) => secret === undefined || /^\*+$/.test(secret)),
    "no secret leaves",
  );
  const { realmName } = await kc.realms.create({ realm: "copy", enabled: true });
  assert.equal(realmName, "copy");
  const representation = {
    ifResourceExists: "SKIP" as const,
    clients: exported,
    roles: must(document.roles),
    groups: document.groups ?? [],
    users: ["gina", "eric", "bob"].map((username) => ({ username, enabled: true })),
  };
  const first = (await kc.realms.partialImport({ realm: "copy", rep: representation as never })) as {
    added: number;
    skipped: number;
  };
  assert.ok(first.added > 0);
  const again = (await kc.realms.partialImport({ realm: "copy", rep: representation as never })) as { added: number };
  assert.equal(again.added, 0);
  await assert.rejects(
    kc.realms.partialImport({ realm: "copy", rep: { ...representation, ifResourceExists: "FAIL" } as never }),
    /409|exists/,
  );
  const dummy = must((await kc.clients.find({ realm: "copy", clientId: "dummy-service" }))[0]?.id);
  assert.ok(namesOf(await kc.clients.listResources({ realm: "copy", id: dummy })).includes("eric"));
  assert.equal((await kc.users.find({ realm: "copy", username: "gina" })).length, 1);
  await kc.realms.logoutAll({ realm: "copy" });
  await kc.realms.del({ realm: "copy" });
  assert.equal(await kc.realms.findOne({ realm: "copy" }), null);
});
