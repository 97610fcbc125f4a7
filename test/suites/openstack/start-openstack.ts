import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { findFreePort, waitUntil } from "@swath/testing";

import { SERVERS, toProxyConfiguration, toServerConfiguration } from "./swift-configuration.ts";

const ADMIN_PASSWORD = "admin's, for tests";
const OPERATOR_PASSWORD = "operator's, for tests";
const SWIFT_PASSWORD = "swifts-for-tests";
const DOMAIN = "earth";

/** What is made in the cloud beforehand, and how to look into it as its administrator. */
export interface TestCloud {
  /** Settings of the bucket operator. */
  readonly settings: Readonly<Record<string, string>>;
  readonly s3Url: string;
  readonly serviceProject: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly keystone: (method: string, path: string, body?: object) => Promise<any>;
  /** A token of a new user with the member role in the project. */
  readonly logInTo: (projectId: string) => Promise<string>;
  readonly makeProject: (name: string) => Promise<string>;
  /** Address of a project's account in the object storage. */
  readonly accountOf: (projectId: string) => string;
  readonly stopKeystone: () => Promise<void>;
  readonly startKeystone: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Keystone (SQLite) and Swift (one device, its own S3) on loopback, from the packages in the virtual environment `bin`. */
export async function startOpenStack(bin: string, folder: string): Promise<TestCloud> {
  const keystonePort = await findFreePort();
  const swiftPort = await findFreePort();
  const identityUrl = `http://127.0.0.1:${keystonePort}/v3`;
  const s3Url = `http://127.0.0.1:${swiftPort}`;
  const env = { PATH: `${bin}:/usr/bin:/bin:/usr/sbin`, HOME: folder, OS_KEYSTONE_CONFIG_DIR: folder };
  const processes: ChildProcess[] = [];
  const start = (name: string, command: string, ...args: string[]) => {
    const log = openSync(join(folder, `${name}.log`), "a");
    const child = spawn(join(bin, command), args, { env, cwd: folder, stdio: ["ignore", log, log] });
    processes.push(child);
    return child;
  };
  const run = (command: string, ...args: string[]) => {
    const { status, stderr } = spawnSync(join(bin, command), args, { env, cwd: folder, encoding: "utf8" });
    if (status !== 0) {
      throw new Error(`${command} ${args[0]} ended with ${status}: ${stderr.slice(-2000)}`);
    }
  };

  const names = ["fernet_tokens", "credential", "fernet_receipts"];
  names.forEach((name) => mkdirSync(join(folder, name)));
  writeFileSync(
    join(folder, "keystone.conf"),
    `[database]\nconnection = sqlite:///${join(folder, "keystone.db")}\n[token]\nprovider = fernet\n` +
      names.map((name) => `[${name}]\nkey_repository = ${join(folder, name)}\n`).join(""),
  );
  const manage = (...args: string[]) => run("keystone-manage", "--config-file", join(folder, "keystone.conf"), ...args);
  const owner = ["--keystone-user", "root", "--keystone-group", "root"];
  manage("db_sync");
  manage("fernet_setup", ...owner);
  manage("credential_setup", ...owner);
  manage("receipt_setup", ...owner);
  const urls = ["public", "internal"].flatMap((kind) => [`--bootstrap-${kind}-url`, `${identityUrl}/`]);
  manage("bootstrap", "--bootstrap-password", ADMIN_PASSWORD, "--bootstrap-region-id", "RegionOne", ...urls);

  let keystoneProcess: ChildProcess | undefined;
  const startKeystone = async () => {
    keystoneProcess = start(
      "keystone",
      "uwsgi",
      "--http-socket",
      `127.0.0.1:${keystonePort}`,
      "--module",
      "keystone.wsgi.api:application",
      "--master",
      "--processes",
      "2",
      "--die-on-term",
      "--disable-logging",
    );
    await waitUntil("Keystone answers", async () => (await fetch(identityUrl).catch(() => undefined))?.ok, 120);
  };
  await startKeystone();

  let token = "";
  const logIn = async (user: object, scope: object): Promise<string> => {
    const response = await fetch(`${identityUrl}/auth/tokens`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ auth: { identity: { methods: ["password"], password: { user } }, scope } }),
    });
    if (!response.ok) {
      throw new Error(`Keystone answers ${response.status} to a login: ${await response.text()}`);
    }
    return response.headers.get("x-subject-token") ?? "";
  };
  const keystone: TestCloud["keystone"] = async (method, path, body) => {
    const response = await fetch(`${identityUrl}${path}`, {
      method,
      headers: { "x-auth-token": token, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`Keystone answers ${response.status} to ${method} ${path}: ${text}`);
    }
    return text === "" ? {} : JSON.parse(text);
  };
  const inDefault = { domain: { id: "default" } };
  token = await logIn(
    { name: "admin", password: ADMIN_PASSWORD, ...inDefault },
    { project: { name: "admin", ...inDefault } },
  );

  const { roles } = await keystone("GET", "/roles");
  const roleOf = (name: string): string => roles.find((role: { name: string }) => role.name === name).id;
  const { domain } = await keystone("POST", "/domains", { domain: { name: DOMAIN } });
  const makeUser = async (name: string, password: string, domainId: string): Promise<string> =>
    (await keystone("POST", "/users", { user: { name, password, domain_id: domainId } })).user.id;
  const makeProject = async (name: string, domainId = domain.id): Promise<string> =>
    (await keystone("POST", "/projects", { project: { name, domain_id: domainId } })).project.id;
  const operator = await makeUser("operator", OPERATOR_PASSWORD, domain.id);
  await keystone("PUT", `/domains/${domain.id}/users/${operator}/roles/${roleOf("admin")}`);
  const internal = await makeProject("service", "default");
  const swift = await makeUser("swift", SWIFT_PASSWORD, "default");
  await keystone("PUT", `/projects/${internal}/users/${swift}/roles/${roleOf("service")}`);
  // To look into users' EC2 credentials, as Swift's S3 does for each request.
  await keystone("PUT", `/projects/${internal}/users/${swift}/roles/${roleOf("admin")}`);
  const { service } = await keystone("POST", "/services", { service: { name: "swift", type: "object-store" } });
  await keystone("POST", "/endpoints", {
    endpoint: {
      interface: "public",
      region_id: "RegionOne",
      service_id: service.id,
      url: `${s3Url}/v1/AUTH_%(tenant_id)s`,
    },
  });
  const serviceProject = await makeProject("processing");

  writeFileSync(
    join(folder, "swift.conf"),
    "[swift-hash]\nswift_hash_path_suffix = tests\nswift_hash_path_prefix = tests\n[storage-policy:0]\nname = one\ndefault = yes\n",
  );
  mkdirSync(join(folder, "devices/d1"), { recursive: true });
  for (const server of SERVERS) {
    const port = await findFreePort();
    writeFileSync(join(folder, `${server}.conf`), toServerConfiguration(server, port, folder));
    run("swift-ring-builder", `${server}.builder`, "create", "4", "1", "1");
    run("swift-ring-builder", `${server}.builder`, "add", `r1z1-127.0.0.1:${port}/d1`, "1");
    run("swift-ring-builder", `${server}.builder`, "rebalance");
    start(server, `swift-${server}-server`, join(folder, `${server}.conf`), "-v");
  }
  writeFileSync(
    join(folder, "proxy.conf"),
    toProxyConfiguration({ port: swiftPort, folder, identityUrl, password: SWIFT_PASSWORD }),
  );
  start("proxy", "swift-proxy-server", join(folder, "proxy.conf"), "-v");
  await waitUntil("Swift answers", async () => (await fetch(`${s3Url}/healthcheck`).catch(() => undefined))?.ok, 120);

  const end = async (child: ChildProcess) => {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    }
  };
  let users = 0;
  return {
    s3Url,
    serviceProject,
    keystone,
    makeProject,
    accountOf: (projectId) => `${s3Url}/v1/AUTH_${projectId}`,
    logInTo: async (projectId) => {
      users += 1;
      const name = `member-${users}`;
      const password = `${name}, for tests`;
      const id = await makeUser(name, password, domain.id);
      await keystone("PUT", `/projects/${projectId}/users/${id}/roles/${roleOf("member")}`);
      return logIn({ id, password }, { project: { id: projectId } });
    },
    settings: {
      CLOUD_IDENTITY_URL: identityUrl,
      CLOUD_S3_URL: s3Url,
      CLOUD_DOMAINNAME: DOMAIN,
      CLOUD_USERNAME: "operator",
      CLOUD_PASSWORD: OPERATOR_PASSWORD,
      CLOUD_MEMBERROLEID: roleOf("member"),
      CLOUD_SERVICEPROJECTID: serviceProject,
    },
    startKeystone,
    stopKeystone: async () => {
      await (keystoneProcess && end(keystoneProcess));
    },
    close: async () => {
      await Promise.all(processes.map(end));
    },
  };
}
