// Variant B on a real cluster: the scripts, tokens and clients of the earlier release line. Its rules one by one are tested on one machine
// (test/e2e/variant-b.integration.test.ts).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";

import { type CommandResult, runCommand, waitUntil } from "@swath/testing";
import { mustKubectl } from "@swath/testing/kubernetes";

import { DOMAIN, type Deployment, NAME, openDeployment, root, findDeploymentSkipReason } from "./support/deployment.ts";
import { whyLeftOut } from "./support/on-demand.ts";
import { testPackage } from "./support/package.ts";

const missing = whyLeftOut() ?? (await findDeploymentSkipReason());
// The scripts ask hosts by their names at port 80, which is led to the cluster's API.
const skip = missing ?? (process.getuid?.() === 0 ? false : "listening on port 80 needs root");
const PASSWORD = "only for this test";
const OFF = ["RESOURCE_CATALOGUE", "DATA_ACCESS", "REGISTRATION_API", "REGISTRY", "PORTAL", "PDE"];

let deployment: Deployment;
let env: NodeJS.ProcessEnv;
const users = new Map<string, string>();
before(async () => {
  if (skip === false) {
    deployment = await openDeployment(
      {
        PLATFORM_VARIANT: "B",
        USE_TLS: "false",
        REQUIRE_DUMMY_SERVICE: "true",
        REQUIRE_DUMMY_SERVICE_PROTECTION: "true",
        STAGEOUT_TARGET: "workspace",
        LOGIN_SERVICE_ADMIN_PASSWORD: PASSWORD,
        ...Object.fromEntries(OFF.map((name) => [`REQUIRE_${name}`, "false"])),
      },
      { publicIp: "127.0.0.1", forwardPort: 80 },
    );
    const { status, stdout, stderr } = await deployment.apply();
    assert.equal(status, 0, stdout + stderr);
    await deployment.port();
    const folder = dirname(deployment.env["SWATH_STATE_DIR"] ?? "");
    env = { ...deployment.env, SWATH_CLUSTER: NAME, SWATH_CLIENT_FILE: join(folder, "client.yaml") };
  }
});
after(async () => {
  if (skip === false) {
    await deployment.close();
  }
});

const script = (path: string, ...args: readonly string[]): Promise<CommandResult> =>
  runCommand(join(root, "deploy", path), args, { env });
const readClient = () => {
  const text = readFileSync(env["SWATH_CLIENT_FILE"] ?? "", "utf8");
  const [, id = "", secret = ""] = /^client-id: (\S+)\nclient-secret: (\S+)\n$/.exec(text) ?? [];
  return { id, secret };
};
const idTokenOf = async (username: string): Promise<string> => {
  const { id, secret } = readClient();
  const response = await deployment.send("auth", "/oxauth/restv1/token", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({
      scope: "openid user_name is_operator",
      grant_type: "password",
      username,
      password: PASSWORD,
      client_id: id,
      client_secret: secret,
    }).toString(),
  });
  assert.equal(response.status, 200, response.text);
  return response.json().id_token as string;
};
const statusOf = async (service: string, path: string, who?: string): Promise<number> =>
  (
    await deployment.send(service, path, {
      headers: { accept: "application/json", ...(who !== undefined && { "x-user-id": await idTokenOf(who) }) },
    })
  ).status;

test("components are in the namespaces of the earlier release line", { skip }, async () => {
  const { items } = JSON.parse(await mustKubectl(["get", "pods", "-A", "-o", "json"])) as {
    items: { metadata: { namespace: string; labels?: Record<string, string> } }[];
  };
  const namespaceOf = (name: string) =>
    items.find(({ metadata }) => metadata.labels?.["app.kubernetes.io/name"] === name)?.metadata.namespace;
  assert.deepEqual(["identity", "ades", "workspace-api", "bucket-operator"].map(namespaceOf), [
    "um",
    "proc",
    "rm",
    "rm",
  ]);
});

test("two users, the protection script, and who may do what", { skip }, async () => {
  for (const name of ["eric", "bob"]) {
    const { status, stdout, stderr } = await script("bin/create-user", "-U", name, "-P", PASSWORD);
    assert.equal(status, 0, stdout + stderr);
    users.set(name, /^user-id: ([0-9a-f-]{36})$/m.exec(stdout)?.[1] ?? "");
  }
  const ids = [users.get("eric") ?? "", users.get("bob") ?? ""];
  const { status, stdout, stderr } = await script("swath/swath-protection.sh", "apply", ...ids, "127.0.0.1", DOMAIN);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /\/ericspace.*protected/);
  for (const [service, path] of [
    ["dummy-service", "/ericspace/x"],
    ["ades", "/eric/wps3/processes"],
  ] as const) {
    const statuses = [
      await statusOf(service, path),
      await statusOf(service, path, "bob"),
      await statusOf(service, path, "eric"),
    ];
    assert.deepEqual(statuses, [401, 403, 200], service);
  }
});

test(
  "a workspace by the script, and a process that is run, shows its results and is undeployed",
  { skip },
  async () => {
    const made = await runCommand(
      "sh",
      [
        "-c",
        `printf '%s\\n' "$1" | "$0" "$2" eric "$3"`,
        join(root, "deploy/bin/create-workspace"),
        PASSWORD,
        DOMAIN,
        users.get("eric") ?? "",
      ],
      { env },
    );
    assert.equal(made.status, 0, made.stdout + made.stderr);
    const workspace = "/workspaces/guide-user-eric";
    await waitUntil("the workspace", async () => {
      const headers = { "x-user-id": await idTokenOf("eric") };
      return (await deployment.send("workspace-api", workspace, { headers })).json().status === "ready";
    });
    assert.deepEqual(
      [await statusOf("workspace-api", workspace), await statusOf("workspace-api", workspace, "bob")],
      [401, 403],
    );

    const headers = {
      "x-user-id": await idTokenOf("eric"),
      accept: "application/json",
    };
    const send = (method: string, path: string, body?: object, more: Readonly<Record<string, string>> = {}) =>
      deployment.send("ades", `/eric/wps3${path}`, {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }), ...more },
        ...(body && { body: JSON.stringify(body) }),
      });
    const href = `data:application/cwl;base64,${Buffer.from(testPackage(process.env["SWATH_IMAGE"] ?? "")).toString("base64")}`;
    const deployed = await send("POST", "/processes", { executionUnit: { href, type: "application/cwl" } });
    assert.equal(deployed.status, 201, deployed.text);
    const started = await send(
      "POST",
      "/processes/write-item/execution",
      { inputs: { title: "hello" } },
      { prefer: "respond-async" },
    );
    assert.equal(started.status, 201, started.text);
    const location = String(started.headers["location"]).replace("/eric/wps3", "");
    const job = await waitUntil("the job", async () => {
      const { status, message } = (await send("GET", location)).json();
      return !["accepted", "running"].includes(status) && { status, message };
    });
    assert.equal(job.status, "successful", JSON.stringify(job));
    assert.equal((await send("GET", `${location}/results`)).status, 200);
    assert.equal((await send("DELETE", "/processes/write-item")).status, 204);
  },
);

test("delete takes the protection away", { skip }, async () => {
  const ids = [users.get("eric") ?? "", users.get("bob") ?? ""];
  const { status, stdout, stderr } = await script("swath/swath-protection.sh", "delete", ...ids, "127.0.0.1", DOMAIN);
  assert.equal(status, 0, stdout + stderr);
  assert.equal(await statusOf("dummy-service", "/ericspace/x"), 401);
});
