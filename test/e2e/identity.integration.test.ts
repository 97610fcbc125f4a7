// Needs: curl
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  type CommandResult,
  type TestCluster,
  createTestCluster,
  dummyServiceOnly,
  runCommand,
  waitUntil,
} from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import axe from "axe-core";
import { type Browser, type Page } from "playwright-core";

import { presign } from "../../components/objstore/admin/presign.ts";
import { checkUserContent } from "./user-content.ts";

// What people log in to: the identity service in front of the dummy service, workspaces and the object storage.
const VARIABLES = {
  ...dummyServiceOnly,
  USE_TLS: "false",
  REQUIRE_IDENTITY_SERVICE: "true",
  REQUIRE_WORKSPACE_API: "true",
  REQUIRE_OBJSTORE: "true",
  REQUIRE_ADES: "true",
  REQUIRE_DUMMY_SERVICE_PROTECTION: "true",
  // What users upload comes from a domain beside that of the platform.
  USER_CONTENT_DOMAIN: "user-content.localhost",
};
const PASSWORD = "changeme";

let cluster: TestCluster;
let browser: Browser | undefined;
before(async () => {
  cluster = await createTestCluster(VARIABLES);
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
  if (skipWithoutChromium === false) {
    browser = await launchChromium();
  }
});
after(async () => {
  await browser?.close();
  await cluster.close();
});

const helper = (name: string, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(join(import.meta.dirname, "../../deploy/bin", name), args, {
    env: { ...cluster.env, SWATH_CLUSTER: cluster.name },
  });
const url = (service: string, path = "/") => {
  const domain = service === "objstore" ? VARIABLES.USER_CONTENT_DOMAIN : cluster.domain;
  return `http://${service}.${domain}:${cluster.port}${path}`;
};

async function logIn(username: string, password = PASSWORD): Promise<string> {
  const text = await send("identity", "/realms/master/protocol/openid-connect/token", {
    method: "POST",
    headers: ["content-type: application/x-www-form-urlencoded"],
    body: new URLSearchParams({ grant_type: "password", client_id: "admin-cli", username, password }).toString(),
  });
  return (JSON.parse(text.body) as { access_token: string }).access_token;
}

interface Ask {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly token?: string;
  readonly body?: string;
}

/** A request by curl, as a user would type it. */
async function send(service: string, path: string, { method, headers = [], token, body }: Ask = {}) {
  const { stdout } = await runCommand("curl", [
    "-sS",
    "-w",
    "\n%{http_code}",
    url(service, path),
    ...(method === undefined ? [] : ["-X", method]),
    ...headers.flatMap((header) => ["-H", header]),
    ...(token === undefined ? [] : ["-H", `Authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ["--data", body]),
  ]);
  const at = stdout.lastIndexOf("\n");
  return { status: Number(stdout.slice(at + 1)), body: stdout.slice(0, at) };
}

test("the protected dummy service: nobody 401, the wrong user 403, the right one 200", async () => {
  assert.equal((await send("dummy-service", "/eric/x")).status, 401);
  assert.equal((await send("dummy-service", "/eric/x", { token: await logIn("bob") })).status, 403);
  const right = await send("dummy-service", "/eric/x", { token: await logIn("eric") });
  assert.equal(right.status, 200);
  assert.match(right.body, /"x-auth-username": "eric"/);
});

test("the workspace procedure, by the helper and by curl", async () => {
  const made = await helper("create-workspace", "-W", "eric");
  assert.equal(made.status, 0, made.stderr);
  assert.equal(made.stdout, '{"name":"ws-eric"}\n');
  assert.equal((await helper("create-workspace", "-O", "eric")).status, 0);

  const created = await send("workspace-api", "/workspaces", {
    token: await logIn("admin"),
    headers: ["Content-Type: application/json", "Accept: application/json"],
    body: JSON.stringify({ preferred_name: "bob", default_owner: "bob" }),
  });
  assert.equal(created.status, 201, created.body);
  assert.deepEqual(JSON.parse(created.body), { name: "ws-bob" });
  // Protection is in force when the answer comes: nobody is refused for a moment, and nobody else let in.
  for (const [user, status] of [
    ["bob", 200],
    ["admin", 200],
    ["eric", 403],
  ] as const) {
    const token = await logIn(user);
    assert.equal((await send("workspace-api", "/workspaces/ws-bob", { token })).status, status, user);
  }
  const stranger = await send("workspace-api", "/workspaces", {
    token: await logIn("alice"),
    headers: ["Content-Type: application/json"],
    body: JSON.stringify({ preferred_name: "alice" }),
  });
  assert.equal(stranger.status, 403, stranger.body);

  const statusFor = async (token?: string) =>
    (await send("workspace-api", "/workspaces/ws-eric", token === undefined ? {} : { token })).status;
  assert.equal(await statusFor(), 401);
  assert.equal(await statusFor(await logIn("bob")), 403);
  assert.equal(await statusFor(await logIn("eric")), 200);
  assert.equal(await statusFor(await logIn("admin")), 200);
  const record = JSON.parse(
    (await send("workspace-api", "/workspaces/ws-eric", { token: await logIn("eric") })).body,
  ) as {
    status: string;
    storage: { credentials: Record<string, string> };
  };
  assert.equal(record.status, "ready");
  assert.equal(record.storage.credentials["bucketname"], "ws-eric");
  assert.equal((await send("workspace-api", "/docs")).status, 200);
});

interface Keys {
  readonly access: string;
  readonly secret: string;
}

/** Puts an object into eric's bucket, with the keys of the workspace. */
async function upload(key: string, { access, secret }: Keys, source: readonly string[]): Promise<void> {
  const signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "--user", `${access}:${secret}`];
  const unsigned = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
  const target = url("objstore", `/ws-eric/${key}`);
  const put = await runCommand("curl", ["-sS", "-f", ...signed, ...unsigned, ...source, target]);
  assert.equal(put.status, 0, put.stderr);
}

test("a job's results go to the caller's workspace; nobody else's space or bucket is open to it", async () => {
  const token = await logIn("eric");
  const status = async (as?: string) =>
    (await send("ades", "/eric/ogc-api/processes", as === undefined ? {} : { token: await logIn(as) })).status;
  assert.deepEqual([await status(), await status("bob"), await status("eric")], [401, 403, 200]);
  const folder = join(import.meta.dirname, "../../examples");
  const deployed = await send("ades", "/eric/ogc-api/processes", {
    token,
    headers: ["Content-Type: application/cwl"],
    body: readFileSync(join(folder, "packages/s-expression.cwl"), "utf8"),
  });
  assert.equal(deployed.status, 201, deployed.body);
  const record = JSON.parse((await send("workspace-api", "/workspaces/ws-eric", { token })).body) as {
    storage: { credentials: { access: string; secret: string } };
  };
  for (const name of readdirSync(join(folder, "scenes/canberra"))) {
    await upload(`scenes/${name}`, record.storage.credentials, ["-T", join(folder, "scenes/canberra", name)]);
  }
  const execute = async (scene: string) =>
    send("ades", "/eric/ogc-api/processes/s-expression/execution", {
      token,
      headers: ["Content-Type: application/json"],
      body: JSON.stringify({ inputs: { input_reference: scene, s_expression: "ndvi:(/ (- nir red) (+ nir red))" } }),
    });
  const done = await execute("s3://ws-eric/scenes/item.json");
  assert.equal(done.status, 200, done.body);
  assert.match(done.body, /"href":"s3:\/\/ws-eric\/processing-results\/[0-9a-f-]{36}\/catalog\.json"/);

  // What the answer links to is for its owner's token alone, down to the files.
  const statuses = async (path: string) => {
    const found = [undefined, "bob", "eric"].map(async (as) =>
      send("ades", path, as === undefined ? {} : { token: await logIn(as) }),
    );
    return (await Promise.all(found)).map((response) => response.status);
  };
  const { links } = JSON.parse(done.body) as { links: readonly { rel: string; href: string }[] };
  const item = new URL(links.find(({ rel }) => rel === "item")?.href ?? "");
  assert.deepEqual(await statuses(item.pathname), [401, 403, 200]);
  const { assets } = JSON.parse((await send("ades", item.pathname, { token })).body) as {
    assets: Readonly<Record<string, { href: string }>>;
  };
  assert.ok(Object.keys(assets).length > 0);
  for (const { href } of Object.values(assets)) {
    assert.deepEqual(await statuses(new URL(href, item).pathname), [401, 403, 200]);
  }

  const foreign = await execute("s3://ws-bob/scenes/item.json");
  assert.equal(foreign.status, 403);
  assert.match(foreign.body, /is not one that you can read here \(/);
});

test("an identity service that dies while workspaces are made: all become ready", async () => {
  const token = await logIn("admin");
  const pod = await cluster.pod("identity");
  const names = ["crash-a", "crash-b", "crash-c", "crash-d"];
  const create = (name: string) =>
    send("workspace-api", "/workspaces", {
      token,
      headers: ["Content-Type: application/json"],
      body: JSON.stringify({ preferred_name: name, default_owner: "alice" }),
    });
  const first = await create("crash-a");
  process.kill(pod.pid ?? 0, "SIGKILL");
  assert.equal(first.status, 201, first.body);
  for (const name of names.slice(1)) {
    await waitUntil(`${name} is accepted`, async () => {
      const { status } = await create(name);
      assert.ok([201, 422, 502, 503].includes(status), String(status));
      return status === 201 || status === 422;
    });
  }
  for (const name of names) {
    await waitUntil(
      `${name} is ready`,
      async () => {
        const { status, body } = await send("workspace-api", `/workspaces/ws-${name}`, { token });
        return status === 200 && (JSON.parse(body) as { status: string }).status === "ready";
      },
      60,
    );
  }
});

test("a change of the rules through the API counts at once", async () => {
  const admin = await logIn("admin");
  const alice = await logIn("alice");
  const status = async () => (await send("dummy-service", "/alice/x", { token: await logIn("eric") })).status;
  assert.equal((await send("dummy-service", "/alice/x", { token: alice })).status, 200);
  assert.equal(await status(), 403);
  const policies = JSON.parse(
    (await send("identity-api", "/dummy-service/policies", { token: admin })).body,
  ) as readonly {
    id: string;
    name: string;
  }[];
  const policy = policies.find(({ name }) => name === "alice User Policy");
  const change = async (users: readonly string[]) => {
    const { status: changed, body } = await send("identity-api", `/dummy-service/policies/user/${policy?.id}`, {
      token: admin,
      method: "PUT",
      headers: ["Content-Type: application/json"],
      body: JSON.stringify({ name: "alice User Policy", users }),
    });
    assert.equal(changed, 200, body);
  };
  await change(["alice", "eric"]);
  await waitUntil("eric is let in", async () => (await status()) === 200, 20);
  await change(["alice"]);
  await waitUntil("eric is kept out again", async () => (await status()) === 403, 20);
});

test("a realm that does not exist is refused before anything is changed", async () => {
  const before = await cluster.pods();
  const { status, stderr } = await cluster.apply({ IDENTITY_REALM: "nowhere" });
  assert.equal(status, 1);
  assert.match(stderr, /nothing was changed: IDENTITY_REALM=nowhere.*has no such realm/);
  assert.deepEqual(
    (await cluster.pods()).map(({ name }) => name),
    before.map(({ name }) => name),
  );
});

test("a client made by the helper protects what it says, users made by the helper log in", async () => {
  const user = await helper("create-user", "-U", "carol", "-P", "carols password");
  assert.equal(user.status, 0, user.stderr);
  assert.equal(typeof (await logIn("carol", "carols password")), "string");
  const client = await helper(
    "create-client",
    "--id=maps",
    "--name=Maps",
    "--secret=hush",
    "--resource=carol",
    "--uris=/carol/*",
    "--users=carol",
    "--resource=everybody",
    "--uris=/all/*",
    "--authenticated",
  );
  assert.equal(client.status, 0, client.stderr);
  const decision = async (username: string, password: string, path: string) =>
    (
      await send("identity", "/realms/master/protocol/openid-connect/token", {
        token: await logIn(username, password),
        body: new URLSearchParams({
          grant_type: "urn:ietf:params:oauth:grant-type:uma-ticket",
          audience: "maps",
          permission: path,
          permission_resource_format: "uri",
          response_mode: "decision",
        }).toString(),
      })
    ).status;
  assert.equal(await decision("carol", "carols password", "/carol/x"), 200);
  assert.equal(await decision("eric", PASSWORD, "/carol/x"), 403);
  assert.equal(await decision("eric", PASSWORD, "/all/x"), 200);
});

/** No serious accessibility fault on the page as it is. */
async function checkAccessibility(page: Page): Promise<void> {
  await page.evaluate(axe.source);
  const faults = await page.evaluate(async () => {
    const { axe: checker } = globalThis as unknown as { axe: typeof axe };
    const { violations } = await checker.run();
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id }) => id);
  });
  assert.deepEqual(faults, []);
}

test("in Chromium: sent to the login page, in by cookie, out again", { skip: skipWithoutChromium }, async () => {
  const context = await browser!.newContext({ bypassCSP: true });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  await page.goto(url("dummy-service", "/eric/x?a=1"));
  assert.match(page.url(), new RegExp(`^${url("identity", "/realms/master/login-actions/")}`));
  await checkAccessibility(page);
  await page.getByLabel("User name or e-mail").fill("eric");
  await page.getByLabel("Password").fill("wrong");
  await page.getByRole("button", { name: "Log in", exact: true }).click();
  assert.match((await page.getByRole("alert").first().textContent()) ?? "", /do not fit together/);
  assert.equal(await page.getByLabel("User name or e-mail").inputValue(), "eric");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
  await page.waitForURL(url("dummy-service", "/eric/x?a=1"));
  assert.match((await page.textContent("body")) ?? "", /"x-auth-username": "eric"/);
  assert.equal((await page.goto(url("dummy-service", "/bob/x")))?.status(), 403);

  await page.goto(url("identity", "/realms/master/account"));
  await checkAccessibility(page);
  assert.match((await page.textContent("main")) ?? "", /Logged in as eric/);
  await page.getByLabel("First name").fill("Eric");
  await page.getByRole("button", { name: "Save profile" }).click();
  assert.match((await page.getByRole("status").textContent()) ?? "", /saved/);
  await page.getByRole("button", { name: "Log out", exact: true }).first().click();
  await page.getByRole("heading", { name: "Log out?" }).waitFor();
  await page.getByRole("button", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "You are logged out" }).waitFor();
  // The session has ended, so the cookies of the service open nothing any more once the gatekeeper has heard of it.
  await waitUntil("the login is asked for", async () => {
    await page.goto(url("dummy-service", "/eric/x"));
    return page.url().includes("login-actions");
  });
  await context.close();
});

test("in Chromium: what users upload shares no cookie with the platform", { skip: skipWithoutChromium }, async () => {
  const { body } = await send("workspace-api", "/workspaces/ws-eric", { token: await logIn("eric") });
  const { credentials } = (JSON.parse(body) as { storage: { credentials: Keys } }).storage;
  const html = ["-X", "PUT", "-H", "content-type: text/html", "--data-binary", "<title>harmful</title><p>page"];
  await upload("page.html", credentials, html);
  const object = { publicUrl: url("objstore", ""), region: "us-east-1", bucket: "ws-eric", key: "page.html" };
  const credential = { id: credentials.access, secret: credentials.secret, token: null };
  const link = (query: Record<string, string>) =>
    presign({ ...object, credential, method: "GET", query, seconds: 600, now: Date.now() });

  const context = await browser!.newContext();
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const platform = url("dummy-service", "/eric/x");
  await page.goto(platform);
  await page.getByLabel("User name or e-mail").fill("eric");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByLabel("Password").press("Enter");
  await page.waitForURL(platform);
  const uploadedText = await link({ "response-content-type": "text/plain" });
  await checkUserContent(page, { platform, uploadedPage: await link({}), uploadedText });
  await context.close();
});
