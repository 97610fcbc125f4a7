// Runs in the namespace of the internet: a DNS server, a certificate authority, an operator on the other machine, and a visitor.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { type X509Certificate, createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { resolve4 } from "node:dns/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";

import { type CommandResult, runCommand, waitUntil } from "@swath/testing";
import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";

import { type Pebble, startPebble } from "../../../cli/targets/embedded/tls/acme/test/pebble.ts";
import { INTERNET, PUBLIC_IP } from "./network.ts";

const DOMAIN = "eo.example.org";
const CLUSTER = "pub";
const OFF = "ADES APPLICATION_HUB RESOURCE_CATALOGUE DATA_ACCESS REGISTRATION_API WORKSPACE_API REGISTRY OBJSTORE";
const root = join(import.meta.dirname, "../../..");
const [machine = ""] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "swath-public-"));
chmodSync(folder, 0o711);

/** The root of the authority, once it is known: what programs elsewhere trust. */
const certificateFile = join(folder, "root.pem");
const knot = await startDns();
let pebble: Pebble | undefined;
try {
  pebble = await startPebble({
    folder: join(folder, "pebble"),
    httpPort: 80,
    dnsServer: `${INTERNET}:53`,
    at: { name: "ca.example.org", address: INTERNET },
  });
  await run(pebble);
} finally {
  await onMachine("bin/swath", "cluster", "delete", CLUSTER, "--yes");
  await pebble?.stop();
  knot.kill("SIGKILL");
  await once(knot, "exit");
  rmSync(folder, { recursive: true, force: true });
}

async function run({ readRoot }: Pebble): Promise<void> {
  // The page "Make a deployment public", command by command.
  const before = await onMachine("bin/swath", "doctor", "--public", CLUSTER, DOMAIN, PUBLIC_IP);
  assert.match(before.stdout, new RegExp(`\\*\\.${DOMAIN.replaceAll(".", "\\.")}.* ${PUBLIC_IP}`), before.stdout);
  const applied = await onMachine("deploy/swath/swath.sh", "apply", CLUSTER, DOMAIN, PUBLIC_IP);
  assert.equal(applied.status, 0, applied.stdout + applied.stderr);
  assert.doesNotMatch(applied.stderr, /does not answer|has not signed/);
  report("applied");

  const authority = await readRoot();
  writeFileSync(certificateFile, authority);
  const listed = await onMachine("bin/swath", "certificates", CLUSTER);
  assert.match(listed.stdout, /portal\.eo\.example\.org +acme +issued/);
  const after = await onMachine("bin/swath", "doctor", "--public", CLUSTER);
  assert.equal(after.status, 0, after.stdout + after.stderr);
  assert.doesNotMatch(after.stdout, /^(BAD|note) /m);
  report("certificates are issued, doctor finds nothing");

  // A visitor elsewhere, by names alone.
  const visit = (...args: readonly string[]) =>
    runCommand("curl", ["-sS", "-o", "/dev/null", "-D", "-", "--cacert", certificateFile, ...args]);
  const portal = await visit(`https://portal.${DOMAIN}/`);
  assert.match(portal.stdout, /^HTTP\/2 200/, portal.stderr);
  assert.match(portal.stdout, /^strict-transport-security: max-age=\d+/im);
  const plain = await visit(`http://portal.${DOMAIN}/`);
  assert.match(plain.stdout, /^HTTP\/1\.1 30[18][^]*location: https:\/\/portal\.eo\.example\.org\//i);
  const [protectedHost, open] = await Promise.all([
    visit(`https://dummy-service.${DOMAIN}/eric/x`),
    runCommand("curl", ["-sS", "--cacert", certificateFile, `https://dummy-service-open.${DOMAIN}/`]),
  ]);
  assert.match(protectedHost.stdout, /^HTTP\/2 401/, protectedHost.stderr);
  assert.doesNotMatch(open.stdout, /x-forwarded/, "no open host unless it is asked for");
  report("a visitor is led to HTTPS and kept out of what is protected");

  const credentials = await onMachine("bin/swath", "credentials", CLUSTER);
  const [, password = ""] = /\badmin +(\S+)/.exec(credentials.stdout) ?? [];
  assert.notEqual(password, "changeme", credentials.stdout);
  if (skipWithoutChromium === false) {
    await logInWithBrowser(authority, password);
    report("an operator logs in with a browser that trusts the authority; one that does not stays away");
  } else {
    report(`no browser: ${skipWithoutChromium}`);
  }
}

async function logInWithBrowser(authority: string, password: string): Promise<void> {
  // A key in the chain that is sent: that of the intermediate authority, which the root has signed.
  const { publicKey } = await readIntermediate(authority);
  const key = createHash("sha256")
    .update(publicKey.export({ type: "spki", format: "der" }))
    .digest("base64");
  const stranger = await launchChromium();
  await assert.rejects((await stranger.newPage()).goto(`https://portal.${DOMAIN}/`), /ERR_CERT_AUTHORITY_INVALID/);
  await stranger.close();
  const browser = await launchChromium([`--ignore-certificate-errors-spki-list=${key}`]);
  try {
    const context = await browser.newContext();
    context.setDefaultTimeout(120_000);
    const page = await context.newPage();
    const response = await page.goto(`https://portal.${DOMAIN}/`);
    const security = await response?.securityDetails();
    assert.equal(security?.protocol, "TLS 1.3");
    assert.match(security?.issuer ?? "", /Pebble/);
    await page.getByRole("link", { name: "Log in" }).first().click();
    await page.getByLabel("User name or e-mail").fill("admin");
    await page.getByLabel("Password").fill(password);
    await page.getByLabel("Password").press("Enter");
    await page.waitForURL((url) => url.hostname === `portal.${DOMAIN}`);
    await page.getByText("admin").first().waitFor();
    const cookies = await context.cookies();
    assert.ok(cookies.length > 0);
    assert.deepEqual(
      cookies.filter(({ secure }) => !secure).map(({ name }) => name),
      [],
      "every cookie goes over TLS only",
    );
  } finally {
    await browser.close();
  }
}

/** The certificate above the portal's, in a chain that leads to the authority's root. */
async function readIntermediate(ca: string): Promise<X509Certificate> {
  const servername = `portal.${DOMAIN}`;
  const socket = connectTls({ host: servername, port: 443, servername, ca });
  await once(socket, "secureConnect");
  const issuer = socket.getPeerX509Certificate()?.issuerCertificate;
  socket.destroy();
  assert.ok(issuer);
  return issuer;
}

/** What an operator types on the platform's machine. */
function onMachine(program: string, ...args: readonly string[]): Promise<CommandResult> {
  return runCommand("ip", ["netns", "exec", machine, join(root, program), ...args], {
    cwd: root,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
      SWATH_STATE_DIR: join(folder, "state"),
      REQUIRE_DUMMY_SERVICE: "true",
      ...Object.fromEntries(OFF.split(" ").map((name) => [`REQUIRE_${name}`, "false"])),
      ...(pebble !== undefined && { ACME_DIRECTORY_URL: pebble.directoryUrl, ACME_CA_FILE: pebble.caFile }),
      ACME_EMAIL: "ops@example.org",
      ...(existsSync(certificateFile) && { NODE_EXTRA_CA_CERTS: certificateFile }),
    },
  });
}

/** Knot, with the records of the page: the domain, all names below it, and the authority's. */
async function startDns(): Promise<ChildProcess> {
  const home = join(folder, "knot");
  mkdirSync(home);
  const records = ["@ SOA ns1 admin 1 3600 600 86400 60", "@ NS ns1", `ns1 A ${INTERNET}`, `ca A ${INTERNET}`];
  const own = [`eo A ${PUBLIC_IP}`, `*.eo A ${PUBLIC_IP}`];
  writeFileSync(join(home, "example.org.zone"), ["$ORIGIN example.org.", "$TTL 60", ...records, ...own, ""].join("\n"));
  writeFileSync(
    join(home, "knot.conf"),
    [
      `server:\n  rundir: "${home}"\n  listen: ${INTERNET}@53`,
      `database:\n  storage: "${home}"`,
      `zone:\n  - domain: example.org\n    storage: "${home}"\n    file: example.org.zone`,
    ].join("\n"),
  );
  const server = spawn("/usr/sbin/knotd", ["-c", join(home, "knot.conf")], { stdio: "ignore" });
  await waitUntil("knot answers", async () => (await resolve4(`x.${DOMAIN}`).catch(() => [])).length > 0, 20);
  return server;
}

function report(text: string): void {
  process.stdout.write(`${text}\n`);
}
