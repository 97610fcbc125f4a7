// Needs: curl
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { runCommand, waitUntil } from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";

import { GREETING, PASSWORD, ROOT, claimsOf, startVariantB } from "./variant-b-fixture.ts";

let fixture: Awaited<ReturnType<typeof startVariantB>>;
before(async () => {
  fixture = await startVariantB();
  const { status, stdout, stderr } = await fixture.cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(() => fixture.close());

const users = new Map<string, string>();

test("the protection script shows how users are made, before there are any", async () => {
  const { status, stderr } = await fixture.protect(
    "apply",
    "b8c8c62a-892c-4953-b44d-10a12eb762d8",
    "",
    "",
    fixture.cluster.domain,
  );
  assert.equal(status, 1);
  assert.match(stderr, /there is no user with the ID b8c8c62a/);
  assert.match(stderr, /Add person/);
  assert.match(stderr, /deploy\/bin\/create-user -U bob/);
  assert.equal(existsSync(fixture.env["SWATH_CLIENT_FILE"] ?? ""), false);
});

test("users are made, and their unique ID is shown", async () => {
  for (const name of ["eric", "bob"]) {
    const { status, stdout, stderr } = await fixture.bin("create-user", "-U", name, "-P", PASSWORD);
    assert.equal(status, 0, stderr);
    const id = /^user-id: ([0-9a-f-]{36})$/m.exec(stdout)?.[1] ?? "";
    users.set(name, id);
  }
});

test("a protection script that is killed at any moment leaves no second client behind", async () => {
  const args = ["apply", users.get("eric") ?? "", users.get("bob") ?? "", "", ""];
  for (const delay of [300, 600, 900, 1200]) {
    const child = spawn(join(ROOT, "deploy/swath/swath-protection.sh"), args, {
      env: fixture.env,
      stdio: "ignore",
      detached: true,
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    await Promise.race([ended, sleep(delay)]);
    if (child.exitCode === null && child.pid !== undefined) {
      process.kill(-child.pid, "SIGKILL");
    }
    await ended;
  }
  assert.equal((await fixture.protect(...args)).status, 0);
  const login = new URLSearchParams({
    grant_type: "password",
    client_id: "admin-cli",
    username: "admin",
    password: PASSWORD,
  });
  const { body } = await fixture.send("auth", "/oxauth/restv1/token", { body: login.toString() });
  const { access_token: token } = JSON.parse(body) as { access_token: string };
  const listed = await fixture.send("auth", "/admin/realms/master/clients", {
    headers: [`Authorization: Bearer ${token}`],
  });
  const clients = JSON.parse(listed.body) as readonly { name: string; clientId: string }[];
  assert.deepEqual(
    clients.filter(({ name }) => name === "SwathClient").map(({ clientId }) => clientId),
    [fixture.readClient().id],
  );
  assert.equal((await fixture.protect("delete", ...args.slice(1))).status, 0);
});

test("the protection script registers the client once, protects, and says what it did", async () => {
  const ids = [users.get("eric") ?? "", users.get("bob") ?? ""] as const;
  const wrong = await fixture.protect("apply", ...ids, "203.0.113.9", "other.example.org");
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /the domain is other\.example\.org, but the deployment has/);
  assert.match(wrong.stderr, /the public address is 203\.0\.113\.9/);
  const same = await fixture.protect("apply", ids[0], ids[0], "", "");
  assert.match(same.stderr, /both IDs are those of the same user/);

  const template = await fixture.protect("template", ...ids, "", fixture.cluster.domain);
  assert.equal(template.status, 0, template.stderr);
  assert.match(template.stdout, /kind: ConfigMap/);
  assert.match(template.stdout, /\/workspaces\/guide-user-eric/);

  const first = await fixture.protect("apply", ...ids, "", fixture.cluster.domain);
  assert.equal(first.status, 0, first.stderr);
  assert.match(first.stdout, /SwathClient .*registered/);
  for (const path of ["/eric ", "/bob ", "/ericspace", "/bobspace", "/workspaces/guide-user-bob"]) {
    assert.match(first.stdout, new RegExp(`${path}.*protected`));
  }
  const file = fixture.env["SWATH_CLIENT_FILE"] ?? "";
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const client = fixture.readClient();
  const again = await fixture.protect("apply", ...ids, "", fixture.cluster.domain);
  assert.doesNotMatch(again.stdout, /registered|changed| protected/);
  rmSync(file);
  await fixture.protect("apply", ...ids, "", fixture.cluster.domain);
  assert.deepEqual(fixture.readClient(), client, "a lost file is written again for the same client");
});

test("X-User-Id, Bearer or the cookie: nobody 401, the wrong user 403, the owner 200", async () => {
  const [eric, bob, admin] = await Promise.all([
    fixture.idTokenOf("eric"),
    fixture.idTokenOf("bob"),
    fixture.idTokenOf("admin"),
  ]);
  const claims = claimsOf(eric ?? "");
  assert.equal(claims["sub"], users.get("eric"));
  assert.equal(claims["user_name"], "eric");
  assert.equal(claims["isOperator"], false);
  for (const [service, path] of [
    ["dummy-service", "/ericspace/x"],
    ["ades", "/eric/wps3/processes"],
  ] as const) {
    const nobody = await fixture.send(service, path);
    assert.equal(nobody.status, 401);
    const challenges = nobody.header("www-authenticate") ?? "";
    assert.ok(challenges.includes(`Bearer realm="${fixture.url("portal", "/oidc/authenticate/")}"`), challenges);
    assert.match(challenges, /UMA realm=[^,]+,as_uri=[^,]+,ticket=\S+/);
    for (const [who, token, status] of [
      ["eric", eric, 200],
      ["bob", bob, 403],
      ["admin", admin, 200],
    ] as const) {
      for (const header of [`X-User-Id: ${token}`, `Authorization: Bearer ${token}`, `Cookie: auth_user_id=${token}`]) {
        assert.equal(
          (await fixture.send(service, path, { headers: [header] })).status,
          status,
          `${service} ${who} ${header.slice(0, 12)}`,
        );
      }
    }
    assert.equal((await fixture.send(service, path, { headers: [`X-User-Id: ${eric}x`] })).status, 401);
  }
  // What nobody registered is for everybody who is logged in, and told who that is.
  const open = await fixture.send("dummy-service", "/elsewhere", { headers: [`X-User-Id: ${bob}`] });
  assert.equal(open.status, 200);
  assert.match(open.body, /"x-auth-username": "bob"/);
  assert.match(open.body, /"x-user-id": "ey/);
  assert.equal((await fixture.send("dummy-service", "/elsewhere")).status, 401);
  // The processing service looks itself, whatever the rules say.
  assert.equal((await fixture.send("ades", "/carol/wps3/processes", { headers: [`X-User-Id: ${bob}`] })).status, 403);
});

test("create-workspace asks for the password, and says what existing scripts look for", async () => {
  const helper = join(ROOT, "deploy/bin/create-workspace");
  const args = [fixture.cluster.domain, "eric", users.get("eric") ?? ""];
  const run = (password: string, ...more: readonly string[]) =>
    runCommand("sh", ["-c", `printf '%s\\n' "$1" | "$0" "$2" "$3" "$4" $5 $6`, helper, password, ...args, ...more], {
      env: fixture.env,
    });
  const wrong = await run("nonsense");
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /ERROR: ID token is null/);
  const made = await run(PASSWORD);
  assert.equal(made.status, 0, made.stderr);
  assert.equal(made.stdout, '{"name":"guide-user-eric"}\n');
  assert.match(made.stderr, /admin password> /);
  assert.equal((await run(PASSWORD, fixture.readClient().id, fixture.readClient().secret)).status, 0);

  const statusFor = async (who?: string) =>
    (
      await fixture.send("workspace-api", "/workspaces/guide-user-eric", {
        headers: who === undefined ? [] : [`X-User-Id: ${await fixture.idTokenOf(who)}`],
      })
    ).status;
  assert.deepEqual([await statusFor(), await statusFor("bob"), await statusFor("eric")], [401, 403, 200]);
  const stranger = await fixture.send("workspace-api", "/workspaces", {
    headers: ["Content-Type: application/json", `X-User-Id: ${await fixture.idTokenOf("bob")}`],
    body: JSON.stringify({ preferred_name: "bob", default_owner: users.get("bob") }),
  });
  assert.equal(stranger.status, 403, stranger.body);
});

test("a process is deployed, run, shows its results, and is undeployed", async () => {
  const token = await fixture.idTokenOf("eric");
  const headers = [`X-User-Id: ${token}`, "Accept: application/json"];
  const deployed = await fixture.send("ades", "/eric/wps3/processes", {
    headers: [...headers, "Content-Type: application/cwl"],
    body: GREETING,
  });
  assert.equal(deployed.status, 201, deployed.body);
  const list = JSON.parse((await fixture.send("ades", "/eric/wps3/processes", { headers })).body) as {
    processes: readonly { id: string }[];
  };
  const id = list.processes.map((process) => process.id).find((one) => one.startsWith("greet")) ?? "";
  const started = await fixture.send("ades", `/eric/wps3/processes/${id}/execution`, {
    headers: [...headers, "Content-Type: application/json", "Prefer: respond-async"],
    body: JSON.stringify({ inputs: { name: "eric" }, response: "raw" }),
  });
  assert.equal(started.status, 201, started.body);
  const location = started.header("location") ?? "";
  assert.match(location, /^\/eric\/wps3\/jobs\/[\w-]+$/);
  const status = await waitUntil("the job ends", async () => {
    const { body } = await fixture.send("ades", location, { headers });
    return /"successful"|"failed"/.test(body) && body;
  });
  assert.match(status, /"successful"/);
  assert.match(id, /^greet/);
  const results = await fixture.send("ades", `${location}/result`, { headers });
  assert.equal(results.status, 200);
  assert.match(results.body, /hello eric/);
  const bob = [`X-User-Id: ${await fixture.idTokenOf("bob")}`];
  assert.equal((await fixture.send("ades", `${location}/result`, { headers: bob })).status, 403);
  assert.equal((await fixture.send("ades", `/eric/wps3/processes/${id}`, { method: "DELETE", headers })).status, 204);
});

test("the enforcement point: a ticket in the challenge is exchanged, and the request passes with the new token", async () => {
  const [eric, bob, admin] = await Promise.all([
    fixture.idTokenOf("eric"),
    fixture.idTokenOf("bob"),
    fixture.idTokenOf("admin"),
  ]);
  const pep = "dummy-service-pep";
  const json = "Content-Type: application/json";
  const register = (token: string, body: object) =>
    fixture.send(pep, "/resources", { headers: [json, `Authorization: Bearer ${token}`], body: JSON.stringify(body) });
  const maps = { name: "Maps", icon_uri: "/maps", resource_scopes: ["protected_get"], uuid: users.get("bob") };
  assert.equal((await fixture.send(pep, "/resources", { headers: [json], body: "{}" })).status, 401);
  assert.equal((await fixture.send(pep, "/resources", { headers: [`X-User-Id: ${admin}`], body: "x" })).status, 415);
  assert.equal((await register(bob, maps)).status, 401, "paths at the top are for operators to register");
  const made = await register(admin, maps);
  assert.equal(made.status, 200, made.body);
  const { id, ownership_id: owner } = JSON.parse(made.body) as { id: string; ownership_id: string };
  assert.equal(owner, users.get("bob"));
  assert.equal((await register(admin, { ...maps, name: "Again" })).status, 422);
  const below = await register(bob, { name: "Bob's own", icon_uri: "/maps/open", resource_scopes: ["open"] });
  assert.equal(below.status, 200, below.body);
  assert.equal((await register(eric, { name: "Eric's", icon_uri: "/maps/eric" })).status, 401);
  const listed = await fixture.send(pep, "/resources", { headers: [`Authorization: Bearer ${bob}`] });
  assert.match(listed.body, /"_reverse_match_url":"\/maps"/);
  assert.equal(
    (await fixture.send(pep, `/resources/${id}`, { method: "DELETE", headers: [`X-User-Id: ${eric}`] })).status,
    403,
  );

  const response = (uri: string, token?: string, method = "GET") =>
    fixture.send(pep, "/authorize", {
      headers: [
        `X-Original-Uri: ${uri}`,
        `X-Original-Method: ${method}`,
        ...(token === undefined ? [] : [`Authorization: Bearer ${token}`]),
      ],
    });
  const challenge = (await response("/maps/x?y=1", bob)).header("www-authenticate") ?? "";
  const [, ticket = ""] = /^UMA realm=eoepca,as_uri=\S+,ticket=(\S+)$/.exec(challenge) ?? [];
  assert.notEqual(ticket, "", challenge);
  const exchange = async (who: string, what: string) => {
    const client = fixture.readClient();
    const { status, body } = await fixture.send("auth", "/oxauth/restv1/token", {
      body: new URLSearchParams({
        grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
        claim_token_format: "http://openid.net/specs/openid-connect-core-1_0.html#IDToken",
        claim_token: who,
        ticket: what,
        client_id: client.id,
        client_secret: client.secret,
        scope: "openid",
      }).toString(),
    });
    return { status, token: (JSON.parse(body) as { access_token?: string }).access_token };
  };
  const { status, token } = await exchange(bob, ticket);
  assert.equal(status, 200);
  const passed = await response("/maps/x", token);
  assert.equal(passed.status, 200);
  assert.equal(passed.header("x-auth-rpt"), token, "for the cookie of the user agent");
  assert.match(passed.header("x-auth-rpt-options") ?? "", /^Path=\/; Secure; HttpOnly; SameSite=Strict; Max-Age=300$/);
  const byCookie = async (value: string | undefined) =>
    (
      await fixture.send(pep, "/authorize", {
        headers: ["X-Original-Uri: /maps/x", "X-Original-Method: GET", `Cookie: auth_rpt-dummy-service=${value}`],
      })
    ).status;
  assert.deepEqual([await byCookie(token), await byCookie(bob), await byCookie("x")], [200, 401, 401]);
  assert.equal((await response("/maps/x", token, "POST")).status, 401, "for another method");
  assert.equal((await response("/ericspace", token)).status, 401, "for another resource");
  assert.notEqual((await exchange(bob, ticket)).status, 200, "a ticket is good once");
  const second = (await response("/maps/x", eric)).header("www-authenticate") ?? "";
  assert.equal((await exchange(eric, second.split("ticket=")[1] ?? "")).status, 403, "not for who may not");
  assert.equal((await response("/maps/open/x")).status, 200);
  assert.equal((await response("/nowhere")).status, 200, "nobody registered it");

  // What everybody may use who is logged in is asked for by that scope, whatever the method.
  const everybody = { name: "Base", icon_uri: "/base", resource_scopes: ["Authenticated"] };
  assert.equal((await register(admin, everybody)).status, 200);
  for (const method of ["GET", "POST"]) {
    const asked = (await response("/base/x", "0", method)).header("www-authenticate") ?? "";
    const given = await exchange(bob, asked.split("ticket=")[1] ?? "");
    assert.equal(given.status, 200, asked);
    assert.equal((await response("/base/x", given.token, method)).status, 200, method);
  }

  // The gatekeeper asks the same rules.
  const onHost = async (path: string, who?: string, method = "GET") =>
    (await fixture.send("dummy-service", path, { method, headers: who === undefined ? [] : [`X-User-Id: ${who}`] }))
      .status;
  assert.deepEqual(
    [await onHost("/maps/x", bob), await onHost("/maps/x", eric), await onHost("/maps/x")],
    [200, 403, 401],
  );
  assert.equal(await onHost("/maps/x", bob, "POST"), 403, "a method that was not registered");
  assert.equal(await onHost("/maps/open/x"), 200, "a resource that is open");
  const decide = (action: string) => fixture.decide({ as: admin, user: "bob", action, resource: id });
  assert.deepEqual([await decide("get"), await decide("bad")], [200, 401]);
  await fixture.checkDefaultPolicy({ owner: bob, other: eric, resource: id });
  assert.equal(
    (await fixture.send(pep, `/resources/${id}`, { method: "DELETE", headers: [`X-User-Id: ${bob}`] })).status,
    204,
  );
  assert.equal(await onHost("/maps/x", eric), 200, "for everybody again");
});

test(
  "the portal's login keeps the ID token in a cookie of the domain that every host takes",
  { skip: skipWithoutChromium },
  async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.goto(fixture.url("portal", "/oidc/authenticate/?next=/"));
      assert.equal(new URL(page.url()).hostname, `auth.${fixture.cluster.domain}`);
      await page.fill("[name=username]", "eric");
      await page.fill("[name=password]", PASSWORD);
      await page.press("[name=password]", "Enter");
      await page.waitForURL(fixture.url("portal", "/"));
      const cookie = (await page.context().cookies()).find(({ name }) => name === "auth_user_id");
      assert.equal(cookie?.domain, `.${fixture.cluster.domain}`);
      assert.equal(cookie?.httpOnly, true);
      assert.equal(cookie?.sameSite, "Strict");
      const claims = claimsOf(cookie?.value ?? "");
      assert.equal(claims["typ"], "ID");
      assert.equal(claims["user_name"], "eric");
      const headers = [`Cookie: auth_user_id=${cookie?.value}`];
      assert.equal((await fixture.send("dummy-service", "/ericspace", { headers })).status, 200);
      assert.equal((await fixture.send("dummy-service", "/bobspace", { headers })).status, 403);
      await page.goto(fixture.url("portal", "/workspaces"));
      await page.getByText("guide-user-eric").first().waitFor();
      await page.goto(fixture.url("portal", "/oidc/logout"));
      const kept = await page.context().cookies();
      assert.ok(!kept.some(({ name }) => name === "auth_user_id"));
      const { status } = await fixture.send("dummy-service", "/ericspace", { headers });
      assert.equal(status, 401, "a cookie that somebody kept is of no use after the logout");
    } finally {
      await browser.close();
    }
  },
);

test("register-client prints the two lines of client.yaml, for a client whose tokens count", async () => {
  const { status, stdout, stderr } = await fixture.bin(
    "register-client",
    `auth.${fixture.cluster.domain}`,
    "Another",
    fixture.url("portal", "/x"),
  );
  assert.equal(status, 0, stderr);
  const [, id = "", secret = ""] = /^client-id: (\S+)\nclient-secret: (\S+)\n$/.exec(stdout) ?? [];
  const token = await fixture.idTokenOf("eric", { id, secret });
  assert.equal((await fixture.send("dummy-service", "/ericspace", { headers: [`X-User-Id: ${token}`] })).status, 200);
});

test("delete takes the protection and the client away; nobody but the administrator is let in then", async () => {
  const token = await fixture.idTokenOf("eric");
  const admin = await fixture.idTokenOf("admin");
  const { status, stdout, stderr } = await fixture.protect(
    "delete",
    users.get("eric") ?? "",
    users.get("bob") ?? "",
    "",
    "",
  );
  assert.equal(status, 0, stderr);
  assert.match(stdout, /\/ericspace.*removed/);
  assert.equal(existsSync(fixture.env["SWATH_CLIENT_FILE"] ?? ""), false);
  assert.notEqual(
    (await fixture.send("dummy-service", "/ericspace", { headers: [`X-User-Id: ${token}`] })).status,
    200,
  );
  assert.notEqual(
    (await fixture.send("dummy-service", "/elsewhere", { headers: [`X-User-Id: ${admin}`] })).status,
    200,
  );
});
