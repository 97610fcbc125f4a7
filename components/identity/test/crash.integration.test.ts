import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { type TestServer, startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePort, programFile, waitUntil } from "@swath/testing";
import { decodeJwt } from "jose";

const PASSWORD = "changeme";
let postgres: TestServer;
let url: string;
let service: ChildProcess;
const children = new Set<ChildProcess>();

function run(file: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [programFile(`identity/${file}`)], {
    env: { ...compiledCode, DATABASE_URL: postgres.url, LOG_LEVEL: "fatal", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  });
  children.add(child);
  child.once("exit", () => children.delete(child));
  return child;
}
const setUp = () =>
  run("bootstrap/main.ts", {
    IDENTITY_ADMIN_PASSWORD: PASSWORD,
    IDENTITY_TEST_USERS: "eric,bob,alice",
    TEST_USER_PASSWORD_ERIC: PASSWORD,
    TEST_USER_PASSWORD_BOB: PASSWORD,
    TEST_USER_PASSWORD_ALICE: PASSWORD,
  });
async function start(): Promise<void> {
  service = run("main.ts", {
    PUBLIC_URL: url,
    PLATFORM_DOMAIN: "platform.test",
    LISTEN: url.slice("http://".length),
    HASH_CONCURRENCY: "2",
    LOGIN_PROVIDER: "oxauth",
  });
  await waitUntil("the service answers", async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
}
async function kill(): Promise<void> {
  const exited = new Promise((resolve) => service.once("exit", resolve));
  service.kill("SIGKILL");
  await exited;
}

before(async () => {
  postgres = await startTestServer();
  url = `http://127.0.0.1:${await findFreePort()}`;
});
after(async () => {
  for (const child of children) {
    child.kill("SIGKILL");
  }
  await postgres.close();
});

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

async function post(path: string, init: RequestInit): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}${path}`, { method: "POST", signal: AbortSignal.timeout(30_000), ...init });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}
const token = (form: Record<string, string>) =>
  post("/realms/master/protocol/openid-connect/token", {
    body: new URLSearchParams({ client_id: "admin-cli", ...form }),
  });
const logIn = async (username: string) =>
  (await token({ grant_type: "password", username, password: PASSWORD })).body as Tokens;

test("a set-up that is killed is completed by the next", async () => {
  for (const milliseconds of [300, 500, 700, 900]) {
    const doomed = setUp();
    await sleep(milliseconds);
    doomed.kill("SIGKILL");
  }
  const whole = setUp();
  const status = await new Promise((resolve) => whole.once("exit", resolve));
  assert.equal(status, 0);
  await start();
  for (const username of ["admin", "eric", "bob", "alice"]) {
    assert.equal(typeof (await logIn(username)).access_token, "string", username);
  }
});

for (const [what, crash] of [
  [
    "the service",
    async () => {
      await kill();
      await start();
    },
  ],
  [
    "PostgreSQL",
    async () => {
      await postgres.kill();
      await postgres.start();
    },
  ],
] as const) {
  test(`${what} killed in a burst of changes: every acknowledged one is there afterwards`, async () => {
    const admin = (await logIn("admin")).access_token;
    const headers = { authorization: `Bearer ${admin}`, "content-type": "application/json" };
    if (what === "PostgreSQL") {
      // An answer that was lost with the database is asked for again when that is back, however long it takes here. (For itself the
      // service counts from its own start.)
      const body = JSON.stringify({ refreshTokenReuseInterval: 300 });
      assert.equal((await post("/admin/realms/master", { method: "PUT", headers, body })).status, 204);
    }
    const created: string[] = [];
    const refreshed = new Map<string, Tokens>();
    let stopped = false;
    const prefix = what === "PostgreSQL" ? "pg" : "svc";

    const creator = async (lane: number) => {
      for (let index = 0; !stopped; index += 1) {
        const username = `${prefix}${lane}-${index}`;
        const body = JSON.stringify({ username, enabled: true });
        const response = await post("/admin/realms/master/users", { headers, body }).catch(() => undefined);
        if (response?.status === 201) {
          created.push(username);
        } else {
          await sleep(20);
        }
      }
    };
    const refresher = async (lane: string) => {
      refreshed.set(lane, await logIn("eric"));
      while (!stopped) {
        const current = refreshed.get(lane) as Tokens;
        const response = await token({ grant_type: "refresh_token", refresh_token: current.refresh_token }).catch(
          () => undefined,
        );
        if (response?.status === 200) {
          refreshed.set(lane, response.body as Tokens);
        } else {
          await sleep(20);
        }
      }
    };
    const lanes = [creator(0), creator(1), creator(2), refresher("a"), refresher("b"), refresher("c")];
    try {
      await waitUntil("there are changes", () => created.length > 20 && refreshed.size === 3);
      await crash();
      await waitUntil("it goes on", async () => {
        const before = created.length;
        await sleep(200);
        return created.length > before;
      });
    } finally {
      stopped = true;
      await Promise.all(lanes);
    }

    const fresh = (await logIn("admin")).access_token;
    const response = await fetch(`${url}/admin/realms/master/users?search=${prefix}&max=10000`, {
      headers: { authorization: `Bearer ${fresh}` },
    });
    const known = new Set(((await response.json()) as { username: string }[]).map(({ username }) => username));
    assert.deepEqual(
      created.filter((username) => !known.has(username)),
      [],
    );
    for (const tokens of refreshed.values()) {
      const again = await token({ grant_type: "refresh_token", refresh_token: tokens.refresh_token });
      assert.equal(again.status, 200, JSON.stringify(again.body));
      assert.equal(decodeJwt((again.body as Tokens).access_token)["sid"], decodeJwt(tokens.access_token)["sid"]);
    }
  });
}

test("while PostgreSQL is away, requests are told to come again", async () => {
  const admin = (await logIn("admin")).access_token;
  await postgres.kill();
  try {
    const refused = await token({ grant_type: "password", username: "eric", password: PASSWORD });
    assert.deepEqual([refused.status, (refused.body as { error: string }).error], [503, "temporarily_unavailable"]);
    const created = await post("/admin/realms/master/users", {
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/json" },
      body: JSON.stringify({ username: "nobody", enabled: true }),
    });
    assert.equal(created.status, 503);
  } finally {
    await postgres.start();
  }
});

test("a registration that is repeated after kill -9 gives the one client there is, with its secret", async () => {
  const register = async (softwareId: string, admin: string) =>
    post("/oxauth/restv1/register", {
      headers: { authorization: `Bearer ${admin}`, "content-type": "application/scim+json" },
      body: JSON.stringify({ client_name: softwareId, grant_types: ["password"], software_id: softwareId }),
    });
  for (const milliseconds of [0, 8, 30]) {
    const softwareId = `crash-${milliseconds}`;
    const admin = (await logIn("admin")).access_token;
    const doomed = register(softwareId, admin).catch(() => undefined);
    await sleep(milliseconds);
    await kill();
    const lost = (await doomed)?.body as { client_id: string; client_secret: string } | undefined;
    await start();
    const again = await register(softwareId, (await logIn("admin")).access_token);
    assert.ok(again.status === 200 || again.status === 201, JSON.stringify(again.body));
    const client = again.body as { client_id: string; client_secret: string };
    if (lost !== undefined) {
      assert.deepEqual([lost.client_id, lost.client_secret], [client.client_id, client.client_secret]);
    }
    const headers = { authorization: `Bearer ${(await logIn("admin")).access_token}` };
    const listed = (await (await fetch(`${url}/admin/realms/master/clients?max=1000`, { headers })).json()) as {
      name?: string;
    }[];
    assert.equal(listed.filter(({ name }) => name === softwareId).length, 1, softwareId);
  }
});
