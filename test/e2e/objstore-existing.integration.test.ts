import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import {
  type TestCluster,
  createTestCluster,
  dummyServiceOnly,
  findFreePort,
  runCommand,
  skipWithout,
  waitUntil,
} from "@swath/testing";

import { ROOT, startObjstore } from "../../components/objstore/test/start-objstore.ts";

// The platform on an existing S3 service: one that it did not deploy and knows by its address and keys alone.
const EXAMPLES = join(import.meta.dirname, "../../examples");
const skip = skipWithout("/usr/bin/aws", "curl");

let existing: Awaited<ReturnType<typeof startObjstore>>;
let cluster: TestCluster;
let folder: string;
before(async () => {
  if (skip !== false) {
    return;
  }
  folder = await mkdtemp(join(tmpdir(), "swath-existing-"));
  const http = await findFreePort();
  existing = await startObjstore({ PUBLIC_URL: `http://127.0.0.1:${http}` }, { http });
  cluster = await createTestCluster({
    ...dummyServiceOnly,
    USE_TLS: "false",
    REQUIRE_DUMMY_SERVICE: "false",
    WORKSPACE_CREATION: "self-service",
    REQUIRE_IDENTITY_SERVICE: "true",
    REQUIRE_WORKSPACE_API: "true",
    REQUIRE_ADES: "true",
    // Not told: that there is a storage already decides it.
    REQUIRE_OBJSTORE: undefined,
    OBJSTORE_ENDPOINT: existing.url,
    OBJSTORE_ROOT_USER: ROOT.accessKeyId,
    OBJSTORE_ROOT_PASSWORD: ROOT.secretAccessKey,
  });
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, stdout + stderr);
});
after(async () => {
  await cluster?.close();
  await existing?.stop();
  if (folder !== undefined) {
    await rm(folder, { recursive: true, force: true });
  }
});

/** The AWS CLI with the keys of the existing storage. */
async function aws(...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await runCommand("aws", ["--endpoint-url", existing.url, ...args], {
    env: {
      PATH: process.env["PATH"],
      AWS_ACCESS_KEY_ID: ROOT.accessKeyId,
      AWS_SECRET_ACCESS_KEY: ROOT.secretAccessKey,
      AWS_DEFAULT_REGION: "us-east-1",
      AWS_EC2_METADATA_DISABLED: "true",
    },
  });
  assert.equal(status, 0, `aws ${args.join(" ")}: ${stderr}`);
  return stdout;
}

let token = "";
async function send(service: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const { stdout, stderr, status } = await runCommand("curl", [
    "-sS",
    "-i",
    ...Object.entries({ accept: "application/json", authorization: `Bearer ${token}`, ...headers }).flatMap(
      ([name, value]) => ["-H", `${name}: ${value}`],
    ),
    ...(body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)]),
    `http://${service}.${cluster.domain}:${cluster.port}${path}`,
  ]);
  assert.equal(status, 0, stderr);
  const [head = "", ...rest] = stdout.split("\r\n\r\n");
  const text = rest.join("\r\n\r\n");
  return {
    status: Number(head.split(" ")[1]),
    location: /^location: *(.+)$/im.exec(head)?.[1]?.trim() ?? "",
    // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
    body: (text === "" ? undefined : JSON.parse(text)) as any,
  };
}

test("no object storage is deployed, and no address leads to one", { skip }, async () => {
  const workloads = (await cluster.pods()).map(({ workload }) => workload);
  assert.ok(workloads.includes("workspace-api") && workloads.includes("ades"), workloads.join(" "));
  assert.deepEqual(
    workloads.filter((name) => name.includes("objstore")),
    [],
  );
  for (const service of ["objstore", "objstore-console"]) {
    assert.equal((await cluster.get(service, "/")).status, 404);
  }
});

test("a workspace has its bucket there", { skip }, async () => {
  const login = await runCommand("curl", [
    "-sS",
    "-f",
    "-d",
    "grant_type=password&client_id=admin-cli&username=eric&password=changeme&scope=openid",
    `http://identity.${cluster.domain}:${cluster.port}/realms/master/protocol/openid-connect/token`,
  ]);
  assert.equal(login.status, 0, login.stderr);
  token = (JSON.parse(login.stdout) as { access_token: string }).access_token;
  const made = await send("workspace-api", "/workspaces", { preferred_name: "eric" });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { storage } = await waitUntil("the workspace is ready", async () => {
    const { body } = await send("workspace-api", "/workspaces/ws-eric");
    return body.status === "ready" ? body : undefined;
  });
  assert.equal(storage.credentials.endpoint, existing.url);
  assert.equal(storage.credentials.bucketname, "ws-eric");
  assert.match(await aws("s3", "ls"), /ws-eric$/m);
});

test("a job reads its scene there and its result is there, for any S3 client", { skip }, async () => {
  await aws("s3", "cp", "--recursive", join(EXAMPLES, "scenes/lommel"), "s3://ws-eric/scenes/lommel/");
  const processes = "/eric/ogc-api/processes";
  const text = readFileSync(join(EXAMPLES, "packages/s-expression.cwl"));
  const href = `data:application/cwl;base64,${text.toString("base64")}`;
  const deployed = await send("ades", processes, { executionUnit: { href, type: "application/cwl" } });
  assert.equal(deployed.status, 201, JSON.stringify(deployed.body));
  const inputs = {
    input_reference: "s3://ws-eric/scenes/lommel/item.json",
    s_expression: "ndvi:(/ (- nir red) (+ nir red))",
  };
  const started = await send("ades", `${processes}/s-expression/execution`, { inputs }, { prefer: "respond-async" });
  assert.equal(started.status, 201, JSON.stringify(started.body));
  const job = await waitUntil(
    "the job has ended",
    async () => {
      const { body } = await send("ades", new URL(started.location, "http://ades").pathname);
      return ["successful", "failed"].includes(body.status) ? body : undefined;
    },
    240,
  );
  assert.equal(job.status, "successful", job.message);
  const listed = (await aws("s3", "ls", "--recursive", "s3://ws-eric/processing-results/"))
    .split("\n")
    .flatMap((line) => /\s(\S+)$/.exec(line)?.[1] ?? []);
  const catalogue = listed.find((key) => key.endsWith(`${job.jobID}/catalog.json`));
  const raster = listed.find((key) => key.endsWith(".tif"));
  assert.ok(catalogue !== undefined && raster !== undefined, listed.join("\n"));
  const read = async (key: string) => {
    await aws("s3", "cp", `s3://ws-eric/${key}`, join(folder, "object"));
    return readFileSync(join(folder, "object"));
  };
  assert.equal((JSON.parse((await read(catalogue)).toString()) as { type: string }).type, "Catalog");
  assert.match((await read(raster)).subarray(0, 4).toString("latin1"), /^(?:II\*\0|MM\0\*)/, "it is a TIFF");
});
