// A public deployment whose certificates come from an ACME server: from `apply` to a green lock, and on through a renewal.
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { request } from "node:https";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";

import { findFreePorts, runCommand } from "@swath/testing";

import { type Pebble, pebbleSkipReason, startPebble } from "../cli/targets/embedded/tls/acme/test/pebble.ts";

const COMPONENTS =
  "IDENTITY_SERVICE ADES APPLICATION_HUB RESOURCE_CATALOGUE DATA_ACCESS REGISTRATION_API WORKSPACE_API REGISTRY PORTAL OBJSTORE STORAGE";
const own = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;
const skip = pebbleSkipReason() || (own === undefined && "no address but loopback");
const HOST = "dummy-service-open.eo.example.org";
const state = mkdtempSync(join(tmpdir(), "swath-acme-"));
chmodSync(state, 0o711);
const [http = 0, https = 0] = await findFreePorts(2);
let pebble: Pebble;
let env: NodeJS.ProcessEnv;
const swath = (...args: readonly string[]) =>
  runCommand(process.execPath, [join(import.meta.dirname, "../cli/main.ts"), ...args], { env });

before(async () => {
  if (skip !== false) {
    return;
  }
  pebble = await startPebble({ folder: join(state, "pebble"), httpPort: http });
  env = {
    PATH: process.env["PATH"],
    HOME: process.env["HOME"],
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
    SWATH_STATE_DIR: state,
    LOCALCLUSTER_EXTRA_OPTIONS: `--ports=${http}:80,${https}:443`,
    OPEN_INGRESS: "true",
    REQUIRE_DUMMY_SERVICE: "true",
    ACME_DIRECTORY_URL: pebble.directoryUrl,
    ACME_CA_FILE: pebble.caFile,
    ACME_EMAIL: "ops@example.org",
    ...Object.fromEntries(COMPONENTS.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
  };
});

after(async () => {
  if (skip === false) {
    await swath("cluster", "delete", "pb", "--yes");
    await pebble.stop();
  }
  rmSync(state, { recursive: true, force: true });
});

interface Visit {
  readonly status: number;
  readonly serial: string;
}

/** One request as a browser elsewhere sends it, which trusts the roots of the authority alone. */
function visit(ca: string): Promise<Visit> {
  return new Promise((resolve, reject) => {
    request(
      { host: own, port: https, path: "/", servername: HOST, headers: { host: HOST }, ca, agent: false },
      (response) => {
        const serial = (response.socket as TLSSocket).getPeerCertificate().serialNumber;
        response.resume().on("end", () => resolve({ status: response.statusCode ?? 0, serial }));
      },
    )
      .on("error", reject)
      .end();
  });
}

test("apply gets certificates through its own ingress, and `certificates` lists them", { skip }, async () => {
  const { status, stdout, stderr } = await swath("deploy", "apply", "pb", "eo.example.org", own ?? "");
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stderr, /does not answer|has not signed/);
  assert.equal((await visit(await pebble.readRoot())).status, 200);
  const listed = await swath("certificates", "pb");
  assert.equal(listed.status, 0, listed.stdout);
  assert.match(listed.stdout, new RegExp(`${HOST.replaceAll(".", "\\.")} +acme +issued +\\d{4}-.* Pebble`));
  const folder = join(state, "clusters/pb/tls/acme");
  for (const server of readdirSync(folder)) {
    for (const name of readdirSync(join(folder, server))) {
      assert.equal(statSync(join(folder, server, name)).mode & 0o777, 0o600, name);
    }
  }
});

test("a second apply asks for nothing", { skip }, async () => {
  const root = await pebble.readRoot();
  const { serial } = await visit(root);
  const { status, stdout, stderr } = await swath("deploy", "apply", "pb", "eo.example.org", own ?? "");
  assert.equal(status, 0, stdout + stderr);
  assert.equal((await visit(root)).serial, serial);
});

test("certificates that end after seconds are renewed under load without a failed request", { skip }, async () => {
  // Every certificate from here on holds for 30 s; a restart of the server gives it new roots, which clients then trust too.
  const before = await pebble.readRoot();
  await pebble.restart({}, { certificateValidityPeriod: 30 });
  const ca = `${before}\n${await pebble.readRoot()}`;
  rmSync(join(state, "clusters/pb/tls/acme"), { recursive: true });
  const { status, stdout, stderr } = await swath("stop", "pb");
  assert.equal(status, 0, stdout + stderr);
  const applied = await swath("deploy", "apply", "pb", "eo.example.org", own ?? "");
  assert.equal(applied.status, 0, applied.stdout + applied.stderr);
  const serials = new Set<string>();
  const failures: unknown[] = [];
  // Longer than the life of the first certificate: it has been replaced twice then.
  while (serials.size < 3 && failures.length === 0) {
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        await visit(ca).then(
          (visited) => (visited.status === 200 ? serials.add(visited.serial) : failures.push(visited.status)),
          (error: unknown) => failures.push(error),
        );
      }),
    );
    // Handshakes without a pause would keep a processor busy for as long as the certificates last.
    await sleep(50);
  }
  assert.deepEqual(failures, []);
});

test(
  "an authority that is away: apply says so with what to do, and the hosts answer all the same",
  { skip },
  async () => {
    await pebble.halt();
    rmSync(join(state, "clusters/pb/tls/acme"), { recursive: true });
    await swath("stop", "pb");
    const { status, stdout, stderr } = await swath("deploy", "apply", "pb", "eo.example.org", own ?? "");
    assert.equal(status, 0, stdout + stderr);
    assert.match(stderr, /has not signed for [^]*cannot be reached[^]*-> /);
    const listed = await swath("certificates", "pb");
    assert.equal(listed.status, 3);
    assert.match(listed.stdout, /temporary[^]*next attempt[^]*->/);
  },
);
