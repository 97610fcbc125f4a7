// The installer in a checkout of one package, with a registry that keeps its archives elsewhere than npm's does.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

const folder = mkdtempSync(join(tmpdir(), "swath-install-"));
const checkout = join(folder, "checkout");
let registry: Server;
let url = "";
const asked: string[] = [];

before(async () => {
  mkdirSync(join(folder, "package"));
  writeFileSync(
    join(folder, "package/package.json"),
    JSON.stringify({ name: "thing", version: "1.0.0", main: "thing.js" }),
  );
  writeFileSync(join(folder, "package/thing.js"), "module.exports = 1;\n");
  execFileSync("tar", ["-czf", "thing.tgz", "package"], { cwd: folder });
  const archive = readFileSync(join(folder, "thing.tgz"));
  const integrity = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
  registry = createServer(({ url: path = "" }, response) => {
    asked.push(path);
    if (path === "/archives/of/thing.tgz") {
      response.end(archive);
    } else if (path === "/thing") {
      const dist = { integrity, tarball: `${url}/archives/of/thing.tgz` };
      const versions = { "1.0.0": { name: "thing", version: "1.0.0", dist } };
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ name: "thing", "dist-tags": { latest: "1.0.0" }, versions }));
    } else {
      response.statusCode = 404;
      response.end();
    }
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;

  mkdirSync(checkout);
  cpSync(import.meta.dirname, join(checkout, "tools/install"), { recursive: true });
  const manifest = { name: "checkout", version: "1.0.0", dependencies: { thing: "1.0.0" } };
  writeFileSync(join(checkout, "package.json"), JSON.stringify(manifest));
  // Folders that may hold packages of the repository's own.
  for (const own of ["cli", "components/one", "libs/one"]) {
    mkdirSync(join(checkout, own), { recursive: true });
    writeFileSync(join(checkout, own, "package.json"), "{}");
  }
  writeFileSync(join(checkout, ".npmrc"), "omit-lockfile-registry-resolved=true\n");
  writeFileSync(
    join(checkout, "package-lock.json"),
    JSON.stringify(
      {
        ...manifest,
        lockfileVersion: 3,
        requires: true,
        packages: { "": manifest, "node_modules/thing": { version: "1.0.0", integrity } },
      },
      null,
      2,
    ),
  );
});
after(() => {
  registry.close();
  rmSync(folder, { recursive: true, force: true });
});

async function install(): Promise<{ readonly status: number | null; readonly said: string }> {
  const child = spawn(join(checkout, "tools/install/install"), {
    env: {
      ...process.env,
      npm_config_registry: url,
      npm_config_cache: join(folder, "cache"),
      npm_config_fetch_retries: "0",
      SWATH_DEVELOP: "1",
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (part: Buffer) => (said += part.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, said };
}

test("a registry that keeps archives elsewhere is asked where, and the installation goes on", async () => {
  const { status, said } = await install();
  assert.equal(status, 0, said);
  assert.deepEqual(asked, ["/thing/-/thing-1.0.0.tgz", "/thing", "/archives/of/thing.tgz"]);
  assert.equal(readFileSync(join(checkout, "node_modules/thing/thing.js"), "utf8"), "module.exports = 1;\n");
  assert.doesNotMatch(readFileSync(join(checkout, "node_modules/.installed-lock"), "utf8"), /127\.0\.0\.1/);
});

test("what is installed already is not fetched again", async () => {
  asked.length = 0;
  assert.equal((await install()).status, 0);
  assert.deepEqual(asked, []);
});

test("an installation that fails says why, and leaves what was there", async () => {
  // Another package, with content that no cache has.
  for (const file of ["package.json", "package-lock.json"]) {
    const text = readFileSync(join(checkout, file), "utf8");
    writeFileSync(join(checkout, file), text.replaceAll("thing", "nothing").replaceAll("sha512-", "sha512-AAAA"));
  }
  const { status, said } = await install();
  assert.notEqual(status, 0);
  assert.match(said, /E404/);
  assert.match(said, /npm ci failed; the lines above say why/);
  assert.ok(existsSync(join(checkout, "node_modules/thing/thing.js")));
  assert.equal(existsSync(join(checkout, ".install")), false);
});
