// Needs: curl
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { runCommand } from "@swath/testing";

import { PASSWORD, ROOT, startVariantB } from "./variant-b-fixture.ts";

let fixture: Awaited<ReturnType<typeof startVariantB>>;
const users = new Map<string, string>();
before(async () => {
  fixture = await startVariantB({ REQUIRE_ADES: "false", REQUIRE_PORTAL: "false" });
  const { status, stdout, stderr } = await fixture.cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  for (const name of ["eric", "bob"]) {
    const made = await fixture.bin("create-user", "-U", name, "-P", PASSWORD);
    assert.equal(made.status, 0, made.stderr);
    users.set(name, /^user-id: ([0-9a-f-]{36})$/m.exec(made.stdout)?.[1] ?? "");
  }
  assert.equal((await fixture.protect("apply", users.get("eric") ?? "", users.get("bob") ?? "", "", "")).status, 0);
  const admin = await fixture.idTokenOf("admin");
  const workspace = await fixture.send("workspace-api", "/workspaces", {
    headers: [`X-User-Id: ${admin}`, "Content-Type: application/json"],
    body: JSON.stringify({ preferred_name: "eric", default_owner: users.get("eric") }),
  });
  assert.equal(workspace.status, 201, workspace.body);
});
after(() => fixture.close());

/** What clients of the earlier release line rely on. */
const BEHAVIOURS: readonly (readonly [
  what: string,
  service: string,
  path: string,
  who: string | undefined,
  status: number,
])[] = [
  ["without a token", "dummy-service", "/ericspace", undefined, 401],
  ["the owner", "dummy-service", "/ericspace", "eric", 200],
  ["the owner, below it", "dummy-service", "/ericspace/a/b?c=d", "eric", 200],
  ["another user", "dummy-service", "/ericspace", "bob", 403],
  ["another user, encoded", "dummy-service", "/%65ricspace", "bob", 403],
  ["an operator", "dummy-service", "/ericspace", "admin", 200],
  ["a path that nobody registered", "dummy-service", "/elsewhere", "bob", 200],
  ["a path that nobody registered, without a token", "dummy-service", "/elsewhere", undefined, 401],
  ["a workspace without a token", "workspace-api", "/workspaces/guide-user-eric", undefined, 401],
  ["a workspace, its owner", "workspace-api", "/workspaces/guide-user-eric", "eric", 200],
  ["a workspace, another user", "workspace-api", "/workspaces/guide-user-eric", "bob", 403],
  ["a workspace, an operator", "workspace-api", "/workspaces/guide-user-eric", "admin", 200],
];

test("what variant B does not have is refused with what to use instead", async () => {
  const env = { env: fixture.env };
  for (const [command, args, instead] of [
    [
      "deploy/bin/create-client",
      ["--id=mine", "--public"],
      /variant B has no identity-api; .*deploy\/bin\/register-client/,
    ],
    [
      "deploy/bin/harvest",
      ["examples/harvesters.yaml"],
      /variant B has no registration-api; .*deploy\/bin\/load-records/,
    ],
    ["deploy/simple/tour", [fixture.cluster.name], /in variant B: deploy\/simple\/quick-procedure/],
  ] as const) {
    const { status, stderr } = await runCommand(join(ROOT, command), args, { ...env, cwd: ROOT });
    assert.equal(status, 1, command);
    assert.match(stderr, instead);
  }
});

test("401 without a token, 403 for others, 200 for the owner, however the token is sent", async () => {
  const tokens = new Map<string, string>();
  for (const name of ["eric", "bob", "admin"]) {
    tokens.set(name, await fixture.idTokenOf(name));
  }
  for (const [what, service, path, who, expected] of BEHAVIOURS) {
    const token = who === undefined ? undefined : tokens.get(who);
    const forms =
      token === undefined
        ? [[], ["X-User-Id: not-a-token"], ["Authorization: Bearer a.b.c"]]
        : [[`X-User-Id: ${token}`], [`Authorization: Bearer ${token}`], [`Cookie: auth_user_id=${token}`]];
    for (const headers of forms) {
      const { status } = await fixture.send(service, path, { headers });
      assert.equal(status, expected, `${what}: ${headers[0]?.slice(0, 24) ?? "no header"}`);
    }
  }
  const { header } = await fixture.send("dummy-service", "/ericspace");
  assert.match(header("www-authenticate") ?? "", /^Bearer realm="http:\/\/portal\.[^"]+\/oidc\/authenticate\/"/);
});

test("migrate b-to-a carries users, policies and workspaces to variant A, without new passwords", async () => {
  const admin = await fixture.idTokenOf("admin");
  const headers = [`Authorization: Bearer ${admin}`, "Content-Type: application/json"];
  const maps = { name: "Bob's maps", icon_uri: "/maps", resource_scopes: ["protected_get"], uuid: users.get("bob") };
  const made = await fixture.send("dummy-service-pep", "/resources", { headers, body: JSON.stringify(maps) });
  assert.equal(made.status, 200, made.body);
  const policies = async () =>
    (JSON.parse((await fixture.send("auth", "/pdp/policy/", { headers })).body) as { policies: readonly object[] })
      .policies;
  const before = await policies();
  assert.ok(before.length > 0);

  const dry = await fixture.cluster.swath("migrate", "b-to-a", fixture.cluster.name, "--dry-run");
  assert.equal(dry.status, 0, dry.stderr);
  assert.match(dry.stdout, /user +eric +stays, with the password/);
  assert.match(dry.stdout, /workspace +guide-user-eric/);
  assert.match(dry.stdout, /becomes a policy of dummy-service/);
  assert.deepEqual(await policies(), before, "a dry run changes nothing");
  for (const attempt of [1, 2]) {
    const { status, stdout, stderr } = await fixture.cluster.swath("migrate", "b-to-a", fixture.cluster.name);
    assert.equal(status, 0, `${attempt}: ${stdout} ${stderr}`);
  }
  assert.deepEqual(await policies(), []);

  const moved = await fixture.cluster.apply({
    PLATFORM_VARIANT: "A",
    REQUIRE_APPLICATION_HUB: "false",
    REQUIRE_REGISTRATION_API: "false",
  });
  assert.equal(moved.status, 0, moved.stdout + moved.stderr);
  const accessTokenOf = async (username: string) => {
    const form = { grant_type: "password", client_id: "admin-cli", username, password: PASSWORD };
    const { body } = await fixture.send("identity", "/realms/master/protocol/openid-connect/token", {
      body: new URLSearchParams(form).toString(),
    });
    return (JSON.parse(body) as { access_token: string }).access_token;
  };
  const [eric, bob] = await Promise.all([accessTokenOf("eric"), accessTokenOf("bob")]);
  const statusOf = async (service: string, path: string, token: string) =>
    (await fixture.send(service, path, { headers: [`Authorization: Bearer ${token}`] })).status;
  assert.deepEqual(
    [await statusOf("dummy-service", "/ericspace", eric), await statusOf("dummy-service", "/ericspace", bob)],
    [200, 403],
  );
  assert.deepEqual(
    [await statusOf("dummy-service", "/maps/x", bob), await statusOf("dummy-service", "/maps/x", eric)],
    [200, 403],
  );
  assert.equal(await statusOf("dummy-service", "/elsewhere", eric), 403, "what nobody registered is closed");
  assert.equal(await statusOf("workspace-api", "/workspaces/guide-user-eric", eric), 200);
});
