// The known provider's own JavaScript client, unchanged: authorization.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

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

describe("authorization", () => {
  let id: string;
  let eric: string;
  before(async () => {
    id = await makeClient("maps", { authorizationServicesEnabled: true, serviceAccountsEnabled: true });
    eric = must((await kc.users.find({ username: "eric", exact: true }))[0]?.id);
  });

  test("resources, scopes, policies, permissions, and what they come to", async () => {
    assert.equal((await kc.clients.getResourceServer({ id })).policyEnforcementMode, "ENFORCING");
    await kc.clients.updateResourceServer({ id }, { decisionStrategy: "UNANIMOUS" as never });
    const scope = await kc.clients.createAuthorizationScope({ id }, { name: "view" });
    const scopeId = must((await kc.clients.listAllScopes({ id })).find(({ name }) => name === "view")?.id);
    await kc.clients.updateAuthorizationScope(
      { id, scopeId },
      { ...scope, id: scopeId, name: "view", displayName: "View" },
    );
    assert.equal((await kc.clients.getAuthorizationScope({ id, scopeId })).displayName, "View");
    const resource = await kc.clients.createResource(
      { id },
      { name: "eric", uris: ["/eric/*"], scopes: [{ name: "view" }] },
    );
    const resourceId = must(resource._id);
    await kc.clients.updateResource({ id, resourceId }, { ...resource, displayName: "Folder of eric" });
    assert.equal((await kc.clients.getResource({ id, resourceId })).displayName, "Folder of eric");
    assert.ok(namesOf(await kc.clients.listResources({ id })).includes("eric"));
    const policy = await kc.clients.createPolicy({ id, type: "user" }, { name: "only eric", users: [eric] } as never);
    const permission = await kc.clients.createPermission(
      { id, type: "resource" },
      { name: "eric may", resources: [resourceId], policies: [must(policy.id)] },
    );
    const permissionId = must(permission.id);
    assert.equal(must(await kc.clients.findPolicyByName({ id, name: "only eric" })).id, policy.id);
    assert.ok(await kc.clients.findOnePolicyWithType({ id, type: "user", policyId: must(policy.id) }));
    assert.ok((await kc.clients.listPolicies({ id })).length >= 2);
    assert.ok((await kc.clients.listPolicyProviders({ id })).length > 5);
    assert.deepEqual(namesOf(await kc.clients.findPermissions({ id, name: "eric may" })), ["eric may"]);
    assert.deepEqual(namesOf(await kc.clients.getAssociatedPolicies({ id, permissionId })), ["only eric"]);
    assert.deepEqual(namesOf(await kc.clients.getAssociatedResources({ id, permissionId })), ["eric"]);
    assert.deepEqual(await kc.clients.getAssociatedScopes({ id, permissionId }), []);
    assert.deepEqual(namesOf(await kc.clients.listDependentPolicies({ id, policyId: must(policy.id) })), ["eric may"]);
    assert.deepEqual(namesOf(await kc.clients.listPermissionsByResource({ id, resourceId })), ["eric may"]);
    assert.deepEqual(namesOf(await kc.clients.listAllResourcesByScope({ id, scopeId })), ["eric"]);
    assert.deepEqual(await kc.clients.listAllPermissionsByScope({ id, scopeId }), []);
    assert.deepEqual(await kc.clients.listPermissionScope({ id }), []);

    const send = async (userId: string) =>
      kc.clients.evaluateResource({ id }, {
        userId,
        roleIds: [],
        resources: [{ name: "eric", scopes: [] }],
        entitlements: false,
        context: { attributes: {} },
      } as never);
    const granted = await send(eric);
    assert.equal(granted.status, "PERMIT");
    assert.equal(granted.results?.[0]?.policies?.[0]?.policy?.name, "eric may");
    const refused = await send(must((await kc.users.find({ username: "bob", exact: true }))[0]?.id));
    assert.equal(refused.status, "DENY");

    const document = await kc.clients.exportResource({ id });
    const other = await makeClient("maps-again", { authorizationServicesEnabled: true, serviceAccountsEnabled: true });
    await kc.clients.importResource({ id: other }, document);
    assert.ok(namesOf(await kc.clients.listResources({ id: other })).includes("eric"));
    assert.deepEqual(namesOf(await kc.clients.findPermissions({ id: other, name: "eric may" })), ["eric may"]);

    await kc.clients.updatePermission({ id, type: "resource", permissionId }, { ...permission, description: "yes" });
    assert.equal((await kc.clients.findOnePermission({ id, type: "resource", permissionId }))?.description, "yes");
    await kc.clients.delPermission({ id, type: "resource", permissionId });
    await kc.clients.updatePolicy({ id, type: "user", policyId: must(policy.id) }, { ...policy, description: "d" });
    await kc.clients.delPolicy({ id, policyId: must(policy.id) });
    await kc.clients.delResource({ id, resourceId });
    await kc.clients.delAuthorizationScope({ id, scopeId });
  });
});
