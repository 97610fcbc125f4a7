// Passwords and keys of a running deployment change under requests that go on all the time, and none of them fails.
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { networkInterfaces, tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";

import { createS3Signer } from "@swath/s3";
import { findFreePorts, runCommand } from "@swath/testing";
import pg from "pg";

import { clusterPaths } from "../cli/targets/embedded/state/paths.ts";

const OFF = "ADES APPLICATION_HUB DATA_ACCESS REGISTRATION_API PORTAL";
const own = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;
const skip = own === undefined && "no address but loopback, where nothing is generated";
const state = mkdtempSync(join(tmpdir(), "swath-rotate-"));
chmodSync(state, 0o711);
const [http = 0, https = 0] = await findFreePorts(2);
const env: NodeJS.ProcessEnv = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
  SWATH_STATE_DIR: state,
  LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${http}:80,${https}:443`,
  USE_TLS: "false",
  ...Object.fromEntries(OFF.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
};
const swath = (...args: readonly string[]) =>
  runCommand(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), ...args], { env });
const paths = clusterPaths("rot", env);
const secrets = () => JSON.parse(readFileSync(paths.secretsFile, "utf8")) as Record<string, string>;

before(async () => {
  if (skip === false) {
    const { status, stdout, stderr } = await swath("deploy", "apply", "rot", "eo.example.org", own ?? "");
    assert.equal(status, 0, stdout + stderr);
  }
});
after(async () => {
  await swath("cluster", "delete", "rot", "--yes");
  rmSync(state, { recursive: true, force: true });
});

interface TestResponse {
  readonly status: number;
  readonly text: string;
}

function send(
  service: string,
  path: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        host: own,
        port: http,
        path,
        method,
        headers: { host: `${service}.eo.example.org:${http}`, ...headers },
        agent: false,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}

/** A request as services of the deployment send it, past the ingress to the port `internal`. */
function sendInside(service: string, path: string, secret: string | undefined): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const socketPath = join(serviceFolder(service), "internal.sock");
    const headers = { host: "localhost", authorization: `Bearer ${secret ?? ""}` };
    const sent = request({ socketPath, path, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, text: "" }));
    });
    sent.on("error", reject).end();
  });
}

const form = { "content-type": "application/x-www-form-urlencoded" };
const token = (fields: Record<string, string>) =>
  send("identity", "/realms/master/protocol/openid-connect/token", {
    method: "POST",
    headers: form,
    body: new URLSearchParams(fields).toString(),
  });
/** Objects are encrypted at rest. */
async function bucket(method: string, path: string, secretKey: string, body?: string): Promise<TestResponse> {
  const signer = createS3Signer({ accessKeyId: rootUser(), secretAccessKey: secretKey, region: "us-east-1" });
  const headers = await signer.sign({
    method,
    url: `http://objstore.eo.example.org:${http}${path}`,
    headers: body === undefined ? {} : { "x-amz-server-side-encryption": "AES256" },
  });
  return send("objstore", path, { method, headers, ...(body !== undefined && { body }) });
}
const rootUser = () =>
  (JSON.parse(readFileSync(paths.planFile, "utf8")) as { plan: { settings: { variables: Record<string, string> } } })
    .plan.settings.variables["OBJSTORE_ROOT_USER"] ?? "";
const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
});
const CLIENT = "IDENTITY_GATEKEEPER_CLIENT_SECRET.resource-catalogue";
const ADMIN = "IDENTITY_SERVICE_ADMIN_PASSWORD";

const logIn = (password: string) =>
  token({ grant_type: "password", client_id: "admin-cli", username: "admin", password });

/** What people and programs do all the time, each with the secret that holds at that moment. */
const actions: Readonly<Record<string, () => Promise<TestResponse>>> = {
  "the catalogue answers (database, gatekeeper)": () => send("resource-catalogue", "/collections"),
  "the administrator logs in": async () => {
    // An account has one password, which changes at one moment: whoever knows both tries both, as the platform's services do.
    const known = secrets();
    const [first, second] = [known[ADMIN] ?? "", known[`also.${ADMIN}`]];
    let response = await logIn(first);
    for (const password of second === undefined ? [] : [second, first]) {
      response = response.status === 401 ? await logIn(password) : response;
    }
    return response;
  },
  "a client gets a token": () =>
    token({
      grant_type: "client_credentials",
      client_id: "resource-catalogue",
      client_secret: secrets()[CLIENT] ?? "",
    }),
  "an encrypted object is read": () => bucket("GET", "/rotation/object", secrets()["OBJSTORE_ROOT_PASSWORD"] ?? ""),
  "a service of the deployment reads the catalogue": () =>
    sendInside("resource-catalogue", "/stac", secrets()["resource-catalogue-internal"]),
  "the registry knows its administrator": () =>
    send("registry", "/api/v2.0/projects", { headers: basic("admin", secrets()["REGISTRY_ADMIN_PASSWORD"] ?? "") }),
};

async function loadUntil(
  done: Promise<unknown>,
): Promise<{ readonly failures: readonly string[]; readonly sent: number }> {
  let running = true;
  void done.finally(() => (running = false));
  const failures: string[] = [];
  let sent = 0;
  await Promise.all(
    // With pauses: five loops that never rest take the processors from the rotation itself.
    Object.entries(actions).map(async ([what, act]) => {
      while (running) {
        const response = await act().catch((error: unknown) => ({ status: 0, text: String(error) }));
        sent += 1;
        if (response.status !== 200) {
          failures.push(`${what}: ${response.status} ${response.text.slice(0, 200)}`);
        }
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }),
  );
  return { failures, sent };
}

/** Logins of components, as the secrets have them. */
const SCHEMAS = {
  identity: "identity",
  "resource-catalogue": "catalogue",
  "registration-api": "registration",
  registry: "registry",
  "workspace-api": "workspace",
};
/** The object storage writes to the audit trail there, and keeps nothing else. */
const LOGINS = { ...SCHEMAS, objstore: "objstore" };
const openAs = async (user: string, password: string | undefined): Promise<pg.Client> => {
  const client = new pg.Client({ host: socketFolder(), database: "swath", user, password });
  await client.connect();
  return client;
};

test("each component's login opens its own schema of the database and nothing else", { skip }, async () => {
  const known = secrets();
  const passwords = Object.keys(LOGINS).map((component) => known[`DATABASE_PASSWORD.${component}`]);
  assert.equal(new Set([...passwords, known["IDENTITY_POSTGRES_PASSWORD"]]).size, 7);
  for (const [component, schema] of Object.entries(LOGINS)) {
    const client = await openAs(`swath_${schema}`, known[`DATABASE_PASSWORD.${component}`]);
    try {
      for (const other of Object.values(SCHEMAS)) {
        const select = client.query(`select * from ${other}.migrations`);
        await (other === schema ? select : assert.rejects(select, /permission denied/));
      }
    } finally {
      await client.end();
    }
  }
  const owner = await openAs("swath", known["IDENTITY_POSTGRES_PASSWORD"]);
  const { rows } = await owner.query<{ user: string }>(
    "select distinct usename as user from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
  );
  await owner.end();
  assert.deepEqual(
    rows.map(({ user }) => user).toSorted(),
    Object.values(LOGINS)
      .map((schema) => `swath_${schema}`)
      .toSorted(),
    "no service is the superuser",
  );
});

test(
  "everything is rotated under load without a failed request, and the old values are refused",
  { skip },
  async () => {
    const old = secrets();
    const oldRoot = old["OBJSTORE_ROOT_PASSWORD"] ?? "";
    assert.equal((await bucket("PUT", "/rotation", oldRoot)).status, 200);
    assert.equal((await bucket("PUT", "/rotation/object", oldRoot, "content")).status, 200);
    for (const [what, act] of Object.entries(actions)) {
      const { status, text } = await act();
      assert.equal(status, 200, `${what}: ${text}`);
    }

    const rotating = swath("credentials", "rotate", "all", "rot");
    const { failures, sent } = await loadUntil(rotating);
    const { status, stdout, stderr } = await rotating;
    assert.equal(status, 0, stdout + stderr);
    assert.deepEqual(failures.slice(0, 5), [], `${failures.length} of ${sent} requests; ${stdout}`);

    const fresh = secrets();
    for (const name of [
      ADMIN,
      CLIENT,
      "OBJSTORE_ROOT_PASSWORD",
      "OBJSTORE_ENCRYPTION_KEYS",
      "REGISTRY_ADMIN_PASSWORD",
      "IDENTITY_POSTGRES_PASSWORD",
      ...Object.keys(LOGINS).map((component) => `DATABASE_PASSWORD.${component}`),
      "workspace-api-internal",
      "resource-catalogue-internal",
    ]) {
      assert.notEqual(fresh[name], old[name], name);
    }
    assert.ok(!Object.keys(fresh).some((name) => name.startsWith("also.") || name === "rotation"));
    assert.equal((await bucket("GET", "/rotation/object", fresh["OBJSTORE_ROOT_PASSWORD"] ?? "")).text, "content");
    await refuseOld(old);
  },
);

test("a rotation that was killed is carried on by the same command, and apply waits for that", { skip }, async () => {
  const old = secrets();
  const { spawn } = await import("node:child_process");
  for (const step of ["2 of 3", "3 of 3"]) {
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, "../cli/main.ts"), "credentials", "rotate", "all", "rot"],
      { env, stdio: ["ignore", "pipe", "inherit"] },
    );
    let output = "";
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      output += String(chunk);
      if (output.includes(step)) {
        break;
      }
    }
    child.kill("SIGKILL");
    assert.match(output, new RegExp(step));
    const refused = await swath("deploy", "apply", "rot", "eo.example.org", own ?? "");
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /rotation of credentials was begun[^]*credentials rotate/);
  }
  const { status, stdout, stderr } = await swath("credentials", "rotate", "all", "rot");
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /carrying on/);
  for (const [what, act] of Object.entries(actions)) {
    assert.equal((await act()).status, 200, what);
  }
  await refuseOld(old);
});

test("what cannot be changed is refused in words", { skip }, async () => {
  const wrong = await swath("credentials", "rotate", "everything", "rot");
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /allowed: all, database, objstore/);
});

async function refuseOld(old: Record<string, string>): Promise<void> {
  const password = old[ADMIN] ?? "";
  assert.equal(
    (await token({ grant_type: "password", client_id: "admin-cli", username: "admin", password })).status,
    401,
  );
  const client = {
    grant_type: "client_credentials",
    client_id: "resource-catalogue",
    client_secret: old[CLIENT] ?? "",
  };
  assert.equal((await token(client)).status, 401);
  assert.equal((await bucket("GET", "/rotation/object", old["OBJSTORE_ROOT_PASSWORD"] ?? "")).status, 403);
  for (const [service, path, status] of [
    ["resource-catalogue", "/stac", 200],
    ["workspace-api", "/nothing", 404],
  ] as const) {
    const name = `${service}-internal`;
    assert.equal((await sendInside(service, path, old[name])).status, 401, name);
    assert.equal((await sendInside(service, path, secrets()[name])).status, status, name);
  }
  const registry = { headers: basic("admin", old["REGISTRY_ADMIN_PASSWORD"] ?? "") };
  assert.equal((await send("registry", "/api/v2.0/projects", registry)).status, 401);
  for (const [user, name] of [
    ["swath", "IDENTITY_POSTGRES_PASSWORD"],
    ["swath_rotating", "IDENTITY_POSTGRES_PASSWORD"],
    ["swath_identity", "DATABASE_PASSWORD.identity"],
    ["swath_identity_rotating", "DATABASE_PASSWORD.identity"],
  ]) {
    const database = new pg.Client({
      host: socketFolder(),
      database: "swath",
      user,
      password: old[name ?? ""],
    });
    await assert.rejects(database.connect(), /password authentication failed/);
  }
}

/** The command runs without this test's TMPDIR, so its short paths are elsewhere. */
function serviceFolder(service: string): string {
  const found = [paths.run, join("/tmp", basename(paths.run))].find((folder) => existsSync(join(folder, "svc")));
  return join(found ?? "", "svc", service);
}
const socketFolder = (): string => serviceFolder("postgres");
