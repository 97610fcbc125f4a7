// Clients of OCI registries that Debian does not have, against ours: oras, helm, crane, cosign and notation, built with Go from their
// modules. REGISTRY_CLIENTS names a folder that has them already.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, after, before, test } from "node:test";

import { runCommand } from "@swath/testing";

import { type RegistryClient, basic, createClient, createProject } from "../../components/registry/test/client.ts";
import { ADMIN_PASSWORD, type TestRegistry, startTestRegistry } from "../../components/registry/test/start-registry.ts";

/** Package of the program, within its module. */
const MODULES = {
  oras: ["oras.land/oras", "cmd/oras", "v1.2.3"],
  helm: ["helm.sh/helm/v3", "cmd/helm", "v3.17.3"],
  crane: ["github.com/google/go-containerregistry", "cmd/crane", "v0.20.3"],
  notation: ["github.com/notaryproject/notation", "cmd/notation", "v1.3.2"],
  cosign: ["github.com/sigstore/cosign/v2", "cmd/cosign", "v2.4.1"],
} as const;
type Program = keyof typeof MODULES;
const SECRET = "secret-between-processing-and-registry";

let registry: TestRegistry;
let admin: RegistryClient;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "registry-clients-"));
  registry = await startTestRegistry({ PROCESSING_SECRET: SECRET });
  admin = createClient(registry.url);
  await createProject(admin, "lab");
});
after(async () => {
  await registry?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Builds a program; false where that does not work, and the test is skipped with the reason. */
async function has(t: TestContext, name: Program): Promise<boolean> {
  if (existsSync(pathOf(name))) {
    return true;
  }
  const [module, directory, version] = MODULES[name];
  // Not `go install`, which asks for the list of all versions: some proxies have none.
  const build = join(folder, `build-${name}`);
  mkdirSync(build);
  writeFileSync(join(build, "go.mod"), `module build\n\ngo 1.23\n\nrequire ${module} ${version}\n`);
  const env = { ...process.env, GOFLAGS: "-mod=mod" };
  const built = await runCommand("go", ["build", "-o", pathOf(name), `${module}/${directory}`], {
    cwd: build,
    env,
  }).catch((error: Error) => ({ status: 1, stderr: error.message }));
  if (built.status !== 0) {
    t.skip(`the Go module proxy does not give ${module} ${version}: ${built.stderr.trim().split("\n").at(-1)}`);
  }
  return built.status === 0;
}

const pathOf = (name: Program) => join(process.env["REGISTRY_CLIENTS"] ?? join(folder, "bin"), name);

/** Runs a program with a home of its own; gives what it printed. */
async function run(name: Program, ...args: readonly string[]): Promise<string> {
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    TMPDIR: folder,
    DOCKER_CONFIG: join(folder, ".docker"),
    COSIGN_PASSWORD: "",
    NOTATION_USERNAME: "admin",
    NOTATION_PASSWORD: ADMIN_PASSWORD,
  };
  const { status, stdout, stderr } = await runCommand(pathOf(name), args, { cwd: folder, env });
  assert.equal(status, 0, `${name} ${args.join(" ")}: ${stderr}${stdout}`);
  return `${stdout}${stderr}`.trim();
}

const login = () => ["--plain-http", "-u", "admin", "-p", ADMIN_PASSWORD];

test("oras pushes, pulls, attaches, discovers, copies, lists and deletes", async (t) => {
  if (!(await has(t, "oras"))) {
    return;
  }
  const reference = `${registry.host}/lab/data/scene:1`;
  writeFileSync(join(folder, "scene.json"), '{"type":"Feature"}');
  writeFileSync(join(folder, "sbom.json"), '{"spdxVersion":"SPDX-2.3","packages":[{"name":"zlib"}]}');
  await run("oras", "login", ...login(), registry.host);
  await run("oras", "push", "--plain-http", reference, "--artifact-type", "application/geo+json", "scene.json");
  await run("oras", "attach", "--plain-http", reference, "--artifact-type", "application/spdx+json", "sbom.json");
  const found = await run("oras", "discover", "--plain-http", "--format", "json", reference);
  assert.match(found, /"artifactType": "application\/spdx\+json"/);
  mkdirSync(join(folder, "pulled"));
  await run("oras", "pull", "--plain-http", reference, "-o", "pulled");
  assert.equal(readFileSync(join(folder, "pulled/scene.json"), "utf8"), '{"type":"Feature"}');
  // With what refers to it, into another repository: blobs are mounted.
  const copy = `${registry.host}/lab/data/copy`;
  await run("oras", "copy", "-r", "--from-plain-http", "--to-plain-http", reference, `${copy}:1`);
  assert.match(await run("oras", "discover", "--plain-http", "--format", "json", `${copy}:1`), /spdx\+json/);
  await run("oras", "tag", "--plain-http", reference, "2", "3");
  assert.deepEqual((await run("oras", "repo", "tags", "--plain-http", `${registry.host}/lab/data/scene`)).split("\n"), [
    "1",
    "2",
    "3",
  ]);
  assert.match(await run("oras", "repo", "ls", "--plain-http", registry.host), /lab\/data\/copy/);
  await run("oras", "blob", "push", "--plain-http", `${registry.host}/lab/data/scene`, "scene.json");
  await run("oras", "manifest", "delete", "--plain-http", "--force", `${copy}:1`);
  assert.equal((await admin.call("GET", "/v2/lab/data/copy/manifests/1")).status, 404);
});

test("helm logs in, pushes a chart, shows, pulls and installs it from there", async (t) => {
  if (!(await has(t, "helm"))) {
    return;
  }
  await run("helm", "create", "tiles");
  await run("helm", "package", "tiles", "--version", "1.2.0");
  // To registries of the loopback interface it speaks plain HTTP without being told.
  await run("helm", "registry", "login", registry.host, "-u", "admin", "-p", ADMIN_PASSWORD, "--insecure");
  await run("helm", "push", "tiles-1.2.0.tgz", `oci://${registry.host}/lab/charts`, "--plain-http");
  const chart = `oci://${registry.host}/lab/charts/tiles`;
  assert.match(await run("helm", "show", "chart", chart, "--version", "1.2.0", "--plain-http"), /name: tiles/);
  mkdirSync(join(folder, "charts"));
  await run("helm", "pull", chart, "--version", "1.2.0", "--plain-http", "-d", "charts");
  assert.deepEqual(readFileSync(join(folder, "charts/tiles-1.2.0.tgz")), readFileSync(join(folder, "tiles-1.2.0.tgz")));
  // By a range of versions: it lists the tags.
  assert.match(await run("helm", "template", "x", chart, "--version", "^1", "--plain-http"), /kind: Deployment/);
  await run("helm", "registry", "logout", registry.host);
});

test("crane appends, copies, lists, mutates, digests and deletes", async (t) => {
  if (!(await has(t, "crane"))) {
    return;
  }
  await run("crane", "auth", "login", registry.host, "-u", "admin", "-p", ADMIN_PASSWORD);
  writeFileSync(join(folder, "file"), "content");
  await runCommand("tar", ["-cf", "layer.tar", "file"], { cwd: folder });
  const image = `${registry.host}/lab/crane/image`;
  await run("crane", "append", "--insecure", "-f", "layer.tar", "-t", `${image}:1`);
  await run("crane", "mutate", "--insecure", `${image}:1`, "--label", "made=here", "-t", `${image}:2`);
  assert.match(await run("crane", "config", "--insecure", `${image}:2`), /"made":"here"/);
  assert.deepEqual((await run("crane", "ls", "--insecure", image)).split("\n"), ["1", "2"]);
  await run("crane", "copy", "--insecure", `${image}:2`, `${registry.host}/lab/crane/copy:2`);
  const digest = await run("crane", "digest", "--insecure", `${registry.host}/lab/crane/copy:2`);
  assert.equal(await run("crane", "digest", "--insecure", `${image}:2`), digest);
  await run("crane", "index", "append", "--insecure", "-m", `${image}:1`, "-m", `${image}:2`, "-t", `${image}:index`);
  await run("crane", "validate", "--insecure", "--remote", `${image}:index`);
  assert.match(await run("crane", "catalog", "--insecure", registry.host), /lab\/crane\/copy/);
  await run("crane", "delete", "--insecure", `${registry.host}/lab/crane/copy@${digest}`);
  assert.equal((await admin.call("GET", "/v2/lab/crane/copy/manifests/2")).status, 404);
});

/** What the processing service pulls with, in a user's name. */
async function openProcessing(user: string): Promise<RegistryClient> {
  const delegate = await fetch(`${registry.url}/api/delegates`, {
    method: "POST",
    headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
    body: JSON.stringify({ user }),
  });
  const { username, password } = (await delegate.json()) as { username: string; password: string };
  return createClient(registry.url, basic(username, password));
}

test("what cosign signs is pulled for processing where a policy demands it, and the signature is shown", async (t) => {
  if (!(await has(t, "cosign"))) {
    return;
  }
  await createProject(admin, "signed");
  const member = { role_id: 3, member_user: { username: "eric" } };
  await admin.call("POST", "/api/v2.0/projects/signed/members", { body: member });
  const digests = [];
  for (const name of ["tags", "referrers", "unsigned"]) {
    digests.push(await admin.pushImage(`signed/${name}`, "1", [Buffer.from(name)]));
  }
  await run("cosign", "generate-key-pair");
  await admin.call("PUT", "/api/v2.0/projects/signed/trusted-keys", {
    body: { keys: [readFileSync(join(folder, "cosign.pub"), "utf8")] },
  });
  const metadata = { enable_content_trust_cosign: "true" };
  await admin.call("PUT", "/api/v2.0/projects/signed", { body: { metadata } });
  const processing = await openProcessing("eric");
  const pull = async (name: string) => (await processing.call("GET", `/v2/signed/${name}/manifests/1`)).status;
  assert.deepEqual([await pull("tags"), await pull("referrers")], [403, 403]);
  const options = ["--key", "cosign.key", "--tlog-upload=false", "--allow-http-registry", "--yes"];
  const access = ["--registry-username", "admin", "--registry-password", ADMIN_PASSWORD];
  await run("cosign", "sign", ...options, ...access, `${registry.host}/signed/tags@${digests[0]}`);
  const image = `${registry.host}/signed/referrers@${digests[1]}`;
  await run("cosign", "sign", ...options, ...access, "--registry-referrers-mode", "oci-1-1", image);
  assert.deepEqual([await pull("tags"), await pull("referrers"), await pull("unsigned")], [200, 200, 403]);
  const verify = ["--key", "cosign.pub", "--insecure-ignore-tlog", "--allow-http-registry"];
  await run("cosign", "verify", ...verify, ...access, `${registry.host}/signed/tags@${digests[0]}`);
  const path = "/api/v2.0/projects/signed/repositories/referrers/artifacts/1/accessories";
  const [accessory] = (await admin.call("GET", path)).json() as { type: string }[];
  assert.equal(accessory?.type, "signature.cosign");
});

test("what notation signs verifies with notation, and is shown as its signature", async (t) => {
  if (!(await has(t, "notation"))) {
    return;
  }
  await admin.pushImage("lab/notation", "1", [Buffer.from("to be signed")]);
  const image = `${registry.host}/lab/notation:1`;
  await run("notation", "cert", "generate-test", "--default", "registry.test");
  await run("notation", "sign", "--insecure-registry", image);
  const policy = {
    version: "1.0",
    trustPolicies: [
      {
        name: "all",
        registryScopes: ["*"],
        signatureVerification: { level: "strict" },
        trustStores: ["ca:registry.test"],
        trustedIdentities: ["*"],
      },
    ],
  };
  writeFileSync(join(folder, "policy.json"), JSON.stringify(policy));
  await run("notation", "policy", "import", "--force", "policy.json");
  assert.match(await run("notation", "verify", "--insecure-registry", image), /Successfully verified/);
  assert.match(await run("notation", "list", "--insecure-registry", image), /application\/vnd.cncf.notary.signature/);
  const path = "/api/v2.0/projects/lab/repositories/notation/artifacts/1/accessories";
  const [accessory] = (await admin.call("GET", path)).json() as { type: string }[];
  assert.equal(accessory?.type, "signature.notation");
});
