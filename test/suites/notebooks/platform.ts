import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { type TestCluster, createTestCluster, runCommand } from "@swath/testing";

import type { SeededCollection } from "./records.ts";

const ROOT = join(import.meta.dirname, "../../..");
/** Of the administrator, the test users and the clients. */
const PASSWORD = "notebooks";
/** Commands that reach beyond the deployment: a cluster that may be configured here, processes of others. */
const COMMANDS_NOT_TO_RUN = ["kubectl", "pkill", "nohup"];

/** What `deploy/simple/simple` deploys, allowed to read files of this machine. */
export async function startPlatform(): Promise<TestCluster> {
  const cluster = await createTestCluster({
    IDENTITY_SERVICE_DEFAULT_SECRET: PASSWORD,
    REGISTRATION_ALLOW_PRIVATE: "127.0.0.1",
    PROCESSING_ALLOW_PRIVATE: "127.0.0.1",
  });
  const simple = join(ROOT, "deploy/simple/simple");
  const { status, stdout, stderr } = await runCommand(
    simple,
    [cluster.name, cluster.domain, "--yes", "--no-first-job"],
    { env: cluster.env },
  );
  assert.equal(status, 0, stdout + stderr);
  return cluster;
}

/** Puts the scenes into the object store and the records into the catalogue. */
export async function loadPlatform(
  { name, domain, port, env }: TestCluster,
  { scenes, collections }: { readonly scenes: string; readonly collections: readonly SeededCollection[] },
): Promise<void> {
  const copied = await runCommand(
    join(ROOT, "bin/swath"),
    ["cp", "--root", "--platform", name, "-r", scenes, "s3://notebooks"],
    { env },
  );
  assert.equal(copied.status, 0, copied.stdout + copied.stderr);
  const post = (path: string, body: unknown) =>
    postJson({ port, host: `resource-catalogue-open.${domain}`, path: `/stac/collections${path}` }, body);
  for (const { collection, items } of collections) {
    await post("", collection);
    for (const item of items) {
      await post(`/${collection.id}/items`, item);
    }
  }
}

function postJson(
  { port, host, path }: { readonly port: number; readonly host: string; readonly path: string },
  body: unknown,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { host: `${host}:${port}`, "content-type": "application/json" };
    request({ host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      text(response).then((answer) => {
        if (response.statusCode === 201) {
          resolve();
        } else {
          reject(new Error(`POST ${host}${path} answered ${response.statusCode}: ${answer}`));
        }
      }, reject);
    })
      .on("error", reject)
      .end(JSON.stringify(body));
  });
}

/**
 * The environment of a notebook: what `~/.eoepca/state` says of a deployment, and no way out of it.
 *
 * @param folder for programs and settings
 */
export function createNotebookEnvironment(
  { domain: name, port, env }: TestCluster,
  { folder, realm }: { readonly folder: string; readonly realm: string },
): NodeJS.ProcessEnv {
  const programs = join(folder, "bin");
  mkdirSync(programs, { recursive: true });
  for (const command of COMMANDS_NOT_TO_RUN) {
    writeFileSync(join(programs, command), `#!/bin/sh\necho "${command} is not run here" >&2\nexit 127\n`, {
      mode: 0o755,
    });
  }
  // Python does not know that names below localhost are this machine.
  writeFileSync(
    join(folder, "sitecustomize.py"),
    "import socket\nresolve = socket.getaddrinfo\n" +
      "socket.getaddrinfo = lambda host, *rest, **more: resolve('127.0.0.1' if str(host).endswith('.localhost') else host, *rest, **more)\n",
  );
  const domain = `${name}:${port}`;
  return {
    PATH: `${programs}:${env["PATH"] ?? ""}`,
    HOME: folder,
    PYTHONPATH: folder,
    NO_PROXY: "*",
    MPLBACKEND: "agg",
    HTTP_SCHEME: "http",
    INGRESS_HOST: domain,
    KEYCLOAK_HOST: `identity.${domain}`,
    REALM: realm,
    KEYCLOAK_ADMIN_USER: "admin",
    KEYCLOAK_ADMIN_PASSWORD: PASSWORD,
    KEYCLOAK_TEST_ADMIN: "admin",
    KEYCLOAK_TEST_USER: "eric",
    KEYCLOAK_TEST_PASSWORD: PASSWORD,
    OPA_CLIENT_ID: "workspace-api",
    OPA_CLIENT_SECRET: PASSWORD,
    OAPIP_CLIENT_ID: "ades",
    OAPIP_CLIENT_SECRET: PASSWORD,
    WORKSPACE_API_CLIENT_ID: "workspace-api",
    WORKSPACE_API_CLIENT_SECRET: PASSWORD,
  };
}
