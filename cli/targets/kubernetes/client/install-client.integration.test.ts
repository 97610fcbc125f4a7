// Installs the client from a registry of one package.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { repositoryRoot } from "../../embedded/launch/code-version.ts";
import { KubernetesError } from "../kubernetes-error.ts";
import { installClient } from "./install-client.ts";

const work = mkdtempSync(join(tmpdir(), "swath-client-"));
const root = join(work, "checkout");
const folder = join(root, "client");
const installation = { root, folder, name: "@kubernetes/client-node", megabytes: 5 };
const asked: string[] = [];
let registry: Server;

before(async () => {
  mkdirSync(join(work, "package"));
  writeFileSync(
    join(work, "package/package.json"),
    JSON.stringify({ name: "@kubernetes/client-node", version: "1.2.3" }),
  );
  writeFileSync(join(work, "package/index.js.map"), "{}");
  execFileSync("tar", ["-czf", "client.tgz", "package"], { cwd: work });
  const archive = readFileSync(join(work, "client.tgz"));
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  registry = createServer(({ url = "" }, response) => {
    asked.push(url);
    response.statusCode = url.endsWith(".tgz") ? 200 : 404;
    response.end(url.endsWith(".tgz") ? archive : "{}");
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  mkdirSync(folder, { recursive: true });
  cpSync(join(repositoryRoot, "tools/install"), join(root, "tools/install"), { recursive: true });
  writeFileSync(join(root, ".npmrc"), "fetch-retries=0\n");
  const packages = {
    "": { name: "checkout", version: "1.0.0" },
    cli: { version: "0.0.0", devDependencies: { "@kubernetes/client-node": "1.2.3" } },
    "node_modules/@kubernetes/client-node": { version: "1.2.3", integrity, dev: true },
    "node_modules/other": { version: "1.0.0", integrity },
  };
  writeFileSync(join(root, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
  const port = (registry.address() as AddressInfo).port;
  process.env["npm_config_registry"] = `http://127.0.0.1:${port}`;
  process.env["npm_config_cache"] = join(work, "cache");
});
after(() => {
  registry.close();
  rmSync(work, { recursive: true, force: true });
});

test("installs the locked version of the client, nothing else, and says so in a line", async () => {
  const lines: string[] = [];
  await installClient(installation, (line) => lines.push(line));
  assert.deepEqual(asked, ["/@kubernetes/client-node/-/client-node-1.2.3.tgz"]);
  assert.match(lines.join("\n"), /^swath: installing the Kubernetes client, about 5 MB/);
  assert.deepEqual(readdirSync(folder), ["node_modules"]);
  assert.deepEqual(readdirSync(join(folder, "node_modules/@kubernetes/client-node")), ["package.json"]);
  assert.equal(existsSync(join(folder, "node_modules/other")), false);
});

test("says what to do where nothing can be fetched, and leaves what was there", async () => {
  registry.close();
  registry.closeAllConnections();
  rmSync(join(work, "cache"), { recursive: true });
  const failure = await installClient(installation, () => {}).catch((error: unknown) => error);
  assert.ok(failure instanceof KubernetesError);
  assert.match(failure.message, /could not be installed: .*ECONNREFUSED/s);
  assert.match(failure.message, /On a machine without a network: .* bring .*client\/node_modules from there/s);
  assert.deepEqual(readdirSync(folder), ["node_modules"]);
});
