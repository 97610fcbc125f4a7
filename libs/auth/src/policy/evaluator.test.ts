import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { createEvaluator, hasScopes, permissionScope } from "./evaluator.ts";
import type { Permission, Policy, PolicySet, Resource, Identity } from "./types.ts";

const now = new Date("2026-05-04T10:30:00Z");
const eric: Identity = {
  userId: "1",
  username: "eric",
  clientId: "portal",
  realmRoles: ["user"],
  clientRoles: { ades: ["operator"] },
  groups: ["/projects/forest"],
  claims: { email: "eric@example.org", address: { country: "IT" }, groups: ["a", "b"] },
};

const resource = (name: string, uris: readonly string[], scopes: readonly string[] = ["view"]): Resource => ({
  id: name,
  name,
  uris,
  scopes,
});
const permission = (
  on: readonly string[],
  policies: readonly string[],
  rest: Partial<Permission> = {},
): Permission => ({
  id: `${on.join("+")}:${policies.join("+")}`,
  name: "permission",
  type: "resource",
  resources: on,
  scopes: [],
  policies,
  decisionStrategy: "UNANIMOUS",
  ...rest,
});
/** Hostile and future shapes included, so the compiler does not check them here. */
interface Draft {
  readonly id: string;
  readonly [member: string]: unknown;
}
const named = (draft: Draft): Policy => ({ name: draft.id, ...draft }) as unknown as Policy;
const policySet = (rest: Partial<PolicySet>): PolicySet => ({
  version: "1",
  clientId: "ades",
  enforcementMode: "ENFORCING",
  decisionStrategy: "UNANIMOUS",
  resources: [],
  policies: [],
  permissions: [],
  ...rest,
});

/** Whether one policy alone lets the subject in. */
function votes(policy: Draft, more: readonly Draft[] = [], identity = eric, at = now): boolean {
  const evaluator = createEvaluator(
    policySet({
      resources: [resource("r", ["/*"])],
      policies: [policy, ...more].map(named),
      permissions: [permission(["r"], [policy.id])],
    }),
  );
  return evaluator.decidePath("/x", { identity, now: at }).granted;
}

const yes = { id: "yes", type: "authenticated" } as const;
const no = { id: "no", type: "user", users: [] } as const;

describe("policies", () => {
  test("user: by id or by name, never one for the other", () => {
    assert.equal(votes({ id: "p", type: "user", users: ["1"] }), true);
    assert.equal(votes({ id: "p", type: "user", users: [], usernames: ["eric"] }), true);
    assert.equal(votes({ id: "p", type: "user", users: ["eric"], usernames: ["1"] }), false);
    const nameless = { ...eric };
    delete (nameless as { username?: string }).username;
    assert.equal(votes({ id: "p", type: "user", users: [], usernames: [undefined] }, [], nameless), false);
  });

  test("role: one of the list, and all that are required; realm and client roles apart", () => {
    const role = (roles: readonly object[]) => votes({ id: "p", type: "role", roles });
    assert.equal(role([{ role: "user" }, { role: "admin" }]), true);
    assert.equal(role([{ role: "user" }, { role: "admin", required: true }]), false);
    assert.equal(role([{ role: "operator" }]), false);
    assert.equal(role([{ role: "operator", client: "ades" }]), true);
    assert.equal(role([{ role: "operator", client: "constructor" }]), false);
    assert.equal(role([]), false);
  });

  test("client, group, regex, time", () => {
    assert.equal(votes({ id: "p", type: "client", clients: ["portal"] }), true);
    assert.equal(votes({ id: "p", type: "client", clients: ["other"] }), false);
    assert.equal(votes({ id: "p", type: "group", groups: [{ path: "/projects" }] }), false);
    assert.equal(votes({ id: "p", type: "group", groups: [{ path: "/projects", extendChildren: true }] }), true);
    assert.equal(votes({ id: "p", type: "group", groups: [{ path: "/proj", extendChildren: true }] }), false);
    const regex = (targetClaim: string, pattern: string) => votes({ id: "p", type: "regex", targetClaim, pattern });
    assert.equal(regex("email", ".*@example\\.org"), true);
    assert.equal(regex("email", "@example\\.org"), false);
    assert.equal(regex("email", "x|eric@example.org"), true);
    assert.equal(regex("address.country", "IT"), true);
    assert.equal(regex("groups", "b"), true);
    assert.equal(regex("__proto__.constructor", ".*"), false);
    const time = (window: object) => votes({ id: "p", type: "time", ...window });
    assert.equal(time({ hour: 9, hourEnd: 17 }), true);
    assert.equal(time({ hour: 11, hourEnd: 17 }), false);
    assert.equal(time({ month: 5, dayMonth: 4 }), true);
    assert.equal(time({ notBefore: "2026-05-04T10:30:00Z" }), true);
    assert.equal(time({ notOnOrAfter: "2026-05-04T10:30:00Z" }), false);
    assert.equal(time({ notBefore: "yesterday" }), false);
  });

  test("aggregated, and negative logic", () => {
    const all = (policies: readonly string[], decisionStrategy: string, logic = "POSITIVE") =>
      votes({ id: "p", type: "aggregated", policies, decisionStrategy, logic }, [yes, no]);
    assert.equal(all(["yes", "no"], "AFFIRMATIVE"), true);
    assert.equal(all(["yes", "no"], "UNANIMOUS"), false);
    assert.equal(all(["yes", "no"], "CONSENSUS"), false);
    assert.equal(all(["yes", "no"], "UNANIMOUS", "NEGATIVE"), true);
    assert.equal(votes({ ...no, logic: "NEGATIVE" }), true);
  });

  test("what cannot be decided refuses, also under negative logic", () => {
    assert.equal(votes({ id: "p", type: "js", logic: "NEGATIVE" }), false);
    assert.equal(votes({ id: "p", type: "regex", targetClaim: "email", pattern: "(", logic: "NEGATIVE" }), false);
    const circle = { id: "p", type: "aggregated", policies: ["p"], decisionStrategy: "UNANIMOUS", logic: "NEGATIVE" };
    assert.equal(votes(circle), false);
    const empty = { id: "p", type: "aggregated", policies: [], decisionStrategy: "UNANIMOUS", logic: "NEGATIVE" };
    assert.equal(votes(empty), false);
    const unknownStrategy = { id: "p", type: "aggregated", policies: ["yes"], decisionStrategy: "ANY" };
    assert.equal(votes(unknownStrategy, [yes]), false);
  });
});

describe("decisions", () => {
  const base = {
    resources: [resource("eric", ["/eric/*"]), resource("bob", ["/bob/*"])],
    policies: [
      named({ id: "is-eric", type: "user", users: [], usernames: ["eric"] }),
      named({ id: "is-bob", type: "user", users: [], usernames: ["bob"] }),
      named(yes),
      named(no),
    ],
    permissions: [permission(["eric"], ["is-eric"]), permission(["bob"], ["is-bob"])],
  };
  const decide = (rest: Partial<PolicySet>, path: string) =>
    createEvaluator(policySet({ ...base, ...rest })).decidePath(path, { identity: eric, now });

  test("the owner's paths pass, others' and unknown paths do not", () => {
    assert.equal(decide({}, "/eric/a").granted, true);
    const other = decide({}, "/bob/a");
    assert.equal(!other.granted && other.reason, "NO_PERMISSION");
    const unknown = decide({}, "/carol");
    assert.equal(!unknown.granted && unknown.reason, "NO_RESOURCE");
  });

  test("enforcement modes", () => {
    assert.equal(decide({ enforcementMode: "PERMISSIVE" }, "/carol").granted, true);
    assert.equal(decide({ enforcementMode: "PERMISSIVE" }, "/bob").granted, false);
    assert.equal(decide({ enforcementMode: "PERMISSIVE", permissions: [] }, "/bob").granted, true);
    assert.equal(decide({ permissions: [] }, "/eric").granted, false);
    assert.equal(decide({ enforcementMode: "DISABLED" }, "/bob").granted, true);
  });

  test("several permissions on one resource follow the resource server's strategy", () => {
    const permissions = [permission(["eric"], ["is-eric"]), permission(["eric"], ["no"])];
    assert.equal(decide({ permissions }, "/eric").granted, false);
    assert.equal(decide({ permissions, decisionStrategy: "AFFIRMATIVE" }, "/eric").granted, true);
    assert.equal(decide({ permissions, decisionStrategy: "CONSENSUS" }, "/eric").granted, false);
  });

  test("of resources sharing a pattern one grant is enough", () => {
    const resources = [resource("a", ["/*"]), resource("b", ["/*"])];
    assert.equal(decide({ resources, permissions: [permission(["b"], ["yes"])] }, "/x").granted, true);
    assert.equal(decide({ resources, permissions: [permission(["b"], ["no"])] }, "/x").granted, false);
  });

  test("scope permissions grant their scopes; a path needs view where the resource has it", () => {
    const resources = [resource("r", ["/r"], ["view", "edit"]), resource("s", ["/s"], ["run", "stop"])];
    const scope = (on: readonly string[], scopes: readonly string[], policy: string) =>
      permission(on, [policy], { type: "scope", scopes, id: `${scopes.join()}-${policy}` });
    const permissions = [scope(["r"], ["view"], "yes"), scope([], ["edit"], "no"), scope(["s"], ["run"], "yes")];
    assert.equal(decide({ resources, permissions }, "/r").granted, true);
    assert.equal(decide({ resources, permissions }, "/s").granted, false);
    const evaluator = createEvaluator(policySet({ ...base, resources, permissions }));
    const [first] = evaluator.findResources("/r");
    assert.ok(first);
    assert.deepEqual(evaluator.evaluateResource(first, { identity: eric, now }), { granted: true, scopes: ["view"] });
    assert.deepEqual(evaluator.evaluateResource(first, { identity: eric, now }, ["edit"]), {
      granted: false,
      scopes: [],
    });
  });

  test("permissions by resource type; owners of owner-managed resources", () => {
    const typed: Resource = { ...resource("t", ["/t"]), type: "urn:data" };
    const byType = [permission([], ["yes"], { resourceType: "urn:data" })];
    assert.equal(decide({ resources: [typed], permissions: byType }, "/t").granted, true);
    assert.equal(decide({ resources: [resource("t", ["/t"])], permissions: byType }, "/t").granted, false);
    const owned: Resource = { ...resource("o", ["/o"]), owner: "1", ownerManagedAccess: true };
    assert.equal(decide({ resources: [owned], permissions: [] }, "/o").granted, true);
    assert.equal(decide({ resources: [{ ...owned, owner: "2" }], permissions: [] }, "/o").granted, false);
  });

  test("what the owner shares only adds, and only while the owner manages the resource", () => {
    const album: Resource = { ...resource("a", ["/a"], ["view", "edit"]), owner: "2", ownerManagedAccess: true };
    const share = permission(["a"], ["yes"], { type: "scope", scopes: ["edit"], byOwner: true });
    const scopes = (changes: Partial<Resource>, permissions: readonly Permission[]) => {
      const shared = { ...album, ...changes };
      const set = policySet({ ...base, resources: [shared], permissions });
      return createEvaluator(set).evaluateResource(shared, { identity: eric, now }).scopes;
    };
    assert.deepEqual(scopes({}, [share]), ["edit"]);
    assert.deepEqual(scopes({ ownerManagedAccess: false }, [share]), []);
    const rule = permission(["a"], ["no"]);
    assert.deepEqual(scopes({}, [share, rule]), ["edit"], "a rule that refuses does not take it back");
    const refusing = { ...share, policies: ["no"] };
    assert.deepEqual(scopes({}, [refusing, permission(["a"], ["yes"])]), ["view", "edit"], "a share refuses nothing");
  });

  test("a resource without scopes follows its permission alone", () => {
    const resources = [resource("r", ["/r"], [])];
    assert.equal(decide({ resources, permissions: [permission(["r"], ["yes"])] }, "/r").granted, true);
    assert.equal(decide({ resources, permissions: [permission(["r"], ["no"])] }, "/r").granted, false);
    assert.equal(decide({ resources, permissions: [permission(["r"], [])] }, "/r").granted, false);
  });
});

test("a permission is for the method of a request, or for what a resource that knows no methods was registered with", () => {
  const scopeOf = (...scopes: readonly string[]) => permissionScope(resource("r", ["/r"], scopes), "POST");
  assert.equal(scopeOf("protected_get", "protected_post"), "protected_post");
  assert.equal(scopeOf("Authenticated"), "Authenticated");
  assert.equal(scopeOf("Authenticated", "protected_post"), "protected_post");
  assert.equal(scopeOf("protected_get"), "protected_post", "which it lacks: there is no ticket for it");
});

test("a resource has the scopes that it was registered with, or all where it is open", () => {
  const has = (needed: readonly string[], ...scopes: readonly string[]) =>
    hasScopes(resource("r", ["/r"], scopes), needed);
  assert.ok(has(["protected_post"], "protected_post"));
  assert.ok(!has(["bad"], "protected_post"));
  assert.ok(!has(["protected_get", "bad"], "protected_get"));
  for (const open of ["open", "public_access", "Authenticated"]) {
    assert.ok(has(["bad"], open), open);
  }
});
