// The acceptance tests of the earlier release line (Robot Framework) against variant B. Nothing of theirs is kept here: clone
// github.com/EOEPCA/eoepca, check out v1.3, and name a Python with robotframework 4, robotframework-requests, eoepca-scim, pyjwkest,
// pycryptodome, pyjwt, owslib, pyops, beautifulsoup4 and lxml:
//
//     RELEASE_FOLDER=~/eoepca RELEASE_PYTHON=~/venv/bin/python npm run test:suites -- release-1.3
//
// What is changed in them: hosts, passwords, and where the package and the scene are, which they take from the internet. As an operator did
// there, the client is registered and the dummy service's base path is known.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";

import { runCommand } from "@swath/testing";

import { PASSWORD, ROOT, startVariantB } from "../e2e/variant-b-fixture.ts";

// oxlint-disable-next-line node/no-process-env -- where the clone and its Python are is the caller's to say
const { RELEASE_FOLDER: clone = "", RELEASE_PYTHON: python = "python3" } = process.env;
const skip =
  clone === "" || !existsSync(join(clone, "test/acceptance/__init__.robot"))
    ? "needs a clone of github.com/EOEPCA/eoepca (v1.3) in the folder that RELEASE_FOLDER names"
    : spawnSync(python, ["-c", "import robot, RequestsLibrary, eoepca_scim, jwkest, owslib, pyops"]).status !== 0 &&
      `needs a Python with Robot Framework and the suite's libraries: RELEASE_PYTHON (${python} has them not)`;

/** Of 30; the two that click through another product's pages are not run. */
const LEAST = 26;
const ITEM = "S2B_MSIL1C_20210402T095029_N0300_R079_T33SUA_20210402T121737.SAFE";
const SCENE = join(ROOT, "examples/scenes/lommel");

const folder = mkdtempSync(join(tmpdir(), "swath-release-"));
after(() => rmSync(folder, { recursive: true, force: true }));

test("the acceptance tests of release 1.3", { skip }, async (t) => {
  const files = await serveFiles();
  const fixture = await startVariantB({
    USE_TLS: "true",
    REQUIRE_RESOURCE_CATALOGUE: "true",
    REQUIRE_DATA_ACCESS: "true",
    PDP_DECISIONS: "open",
    STAGEOUT_TARGET: "minio",
    PROCESSING_ALLOW_PRIVATE: "127.0.0.1",
  });
  t.after(async () => {
    files.close();
    await fixture.close();
  });
  const applied = await fixture.cluster.apply();
  assert.equal(applied.status, 0, applied.stdout + applied.stderr);
  const ids = new Map<string, string>();
  for (const name of ["eric", "alice", "bob"]) {
    const { stdout, stderr } = await fixture.bin("create-user", "-U", name, "-P", PASSWORD);
    ids.set(name, /^user-id: (\S+)$/m.exec(stdout)?.[1] ?? assert.fail(stderr));
  }
  const shielded = await fixture.protect("apply", ids.get("eric") ?? "", ids.get("bob") ?? "", "", "");
  assert.equal(shielded.status, 0, shielded.stderr);
  const tlsPort = Number(/(\d+):443/.exec(fixture.cluster.env["LOCALCLUSTER_EXTRA_OPTIONS"] ?? "")?.[1]);
  const { domain } = fixture.cluster;
  const authority = join(fixture.cluster.directory, "tls", `${domain}.ca.crt`);
  await prepare({ domain, port: tlsPort, authority: readFileSync(authority, "utf8"), client: fixture.readClient() });

  const suite = join(folder, "test");
  cpSync(join(clone, "test"), suite, { recursive: true });
  adapt(join(suite, "acceptance"), { filesUrl: files.url, client: fixture.readClient() });
  // Python does not know that names below localhost are this machine.
  writeFileSync(
    join(folder, "sitecustomize.py"),
    "import socket\nresolve = socket.getaddrinfo\n" +
      "socket.getaddrinfo = lambda host, *rest, **more: resolve('127.0.0.1' if str(host).endswith('.localhost') else host, *rest, **more)\n",
  );
  const { stdout } = await runCommand(
    python,
    ["-m", "robot", "--variable", `PUBLIC_HOSTNAME:${domain}:${tlsPort}`, "."],
    {
      cwd: join(suite, "acceptance"),
      env: {
        PATH: fixture.cluster.env["PATH"],
        HOME: folder,
        PYTHONPATH: folder,
        REQUESTS_CA_BUNDLE: authority,
        NO_PROXY: "*",
      },
    },
  );
  for (const line of stdout.split("\n").filter((one) => /\| (PASS|FAIL) \|$/.test(one))) {
    t.diagnostic(line);
  }
  const report = readFileSync(join(suite, "acceptance/output.xml"), "utf8");
  const [, passed = "0", failed = "0"] = /<stat pass="(\d+)" fail="(\d+)"[^>]*>All Tests</.exec(report) ?? [];
  t.diagnostic(`${passed} passed, ${failed} failed`);
  assert.ok(Number(passed) >= LEAST, `${passed} passed, ${failed} failed\n${stdout}`);
});

/** The package and the scene, at the paths where the suite's data have them. */
async function serveFiles() {
  const scene = JSON.parse(readFileSync(join(SCENE, "item.json"), "utf8")) as { assets: Record<string, object> };
  let url = "";
  const cwl = readFileSync(join(ROOT, "examples/packages/s-expression.cwl"), "utf8")
    .replace("s:softwareVersion: 1.0.0", "s:softwareVersion: 0.3.0")
    .replace("id: s-expression", "id: snuggs");
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? "";
    if (path.endsWith(".cwl")) {
      response.setHeader("content-type", "application/cwl").end(cwl);
    } else if (path.endsWith(".tif")) {
      response.setHeader("content-type", "image/tiff").end(readFileSync(join(SCENE, path.split("/").at(-1) ?? "")));
    } else {
      const assets = {
        B02: { ...scene.assets["blue"], href: `${url}/B02.tif` },
        B05: { ...scene.assets["red"], href: `${url}/B04.tif` },
      };
      response.setHeader("content-type", "application/json").end(JSON.stringify({ ...scene, assets }));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, close: () => server.close() };
}

interface Deployment {
  readonly domain: string;
  readonly port: number;
  readonly authority: string;
  readonly client: { readonly id: string; readonly secret: string };
}

/** What the operators of the suite's own deployment had: a base path and records of Sentinel-2. */
async function prepare({ domain, port, authority, client }: Deployment): Promise<void> {
  const send = (service: string, path: string, headers: Record<string, string>, body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const host = `${service}.${domain}`;
      const sent = request(
        { host: "127.0.0.1", servername: host, port, ca: authority, path, method: "POST" },
        (response) => {
          const isRight = (response.statusCode ?? 500) < 300;
          text(response).then(
            (answer) => (isRight ? resolve(answer) : reject(new Error(`${path}: ${response.statusCode} ${answer}`))),
            reject,
          );
        },
      );
      for (const [name, value] of Object.entries({ host: `${host}:${port}`, ...headers })) {
        sent.setHeader(name, value);
      }
      sent.on("error", reject).end(body);
    });
  const login = await send(
    "auth",
    "/oxauth/restv1/token",
    { "content-type": "application/x-www-form-urlencoded" },
    new URLSearchParams({
      grant_type: "password",
      scope: "openid user_name is_operator",
      username: "admin",
      password: PASSWORD,
      client_id: client.id,
      client_secret: client.secret,
    }).toString(),
  );
  const { id_token: token } = JSON.parse(login) as { id_token: string };
  const headers = { "x-user-id": token, "content-type": "application/json" };
  await send(
    "dummy-service-pepapi",
    "/resources",
    headers,
    JSON.stringify({ name: "Base Path", icon_uri: "/", resource_scopes: ["Authenticated"] }),
  );
  const collection = {
    type: "Collection",
    stac_version: "1.0.0",
    id: "S2MSI1C",
    description: "Sentinel-2 Level-1C",
    license: "proprietary",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [["2015-06-23T00:00:00Z", null]] } },
    links: [],
  };
  await send("resource-catalogue", "/stac/collections", headers, JSON.stringify(collection));
  for (const day of Array.from({ length: 12 }, (_, index) => index + 1)) {
    const id = day === 2 ? ITEM : `S2B_MSIL1C_202104${String(day).padStart(2, "0")}`;
    const [west, south, east, north] = [14, 37.1, 15, 37.8] as const;
    const item = {
      type: "Feature",
      stac_version: "1.0.0",
      id,
      collection: "S2MSI1C",
      bbox: [west, south, east, north],
      geometry: {
        type: "Polygon",
        coordinates: [
          [
            [west, south],
            [east, south],
            [east, north],
            [west, north],
            [west, south],
          ],
        ],
      },
      properties: { datetime: `2021-04-${String(day).padStart(2, "0")}T09:50:29Z`, title: id, "eo:cloud_cover": day },
      assets: {},
      links: [],
    };
    await send("resource-catalogue", "/stac/collections/S2MSI1C/items", headers, JSON.stringify(item));
  }
}

/** Hosts, passwords, addresses of files, and the client. */
function adapt(
  acceptance: string,
  { filesUrl, client }: { readonly filesUrl: string; readonly client: Deployment["client"] },
): void {
  for (const name of readdirSync(acceptance, { recursive: true, encoding: "utf8" })) {
    if (!/\.(robot|json)$/.test(name)) {
      continue;
    }
    const file = join(acceptance, name);
    writeFileSync(
      file,
      readFileSync(file, "utf8")
        .replaceAll("https://test.${", "https://auth.${")
        .replaceAll("http://${", "https://${")
        .replaceAll(/http:\/\/(ades|dummy)/g, "https://$1")
        .replaceAll("defaultPWD", PASSWORD)
        .replaceAll(/https:\/\/(?:raw\.githubusercontent\.com|earth-search\.aws\.element84\.com)/g, filesUrl),
    );
  }
  rmSync(join(acceptance, "01__UserManagement/02__UserProfile"), { recursive: true });
  writeFileSync(join(acceptance, "state.json"), JSON.stringify({ client_id: client.id, client_secret: client.secret }));
}
