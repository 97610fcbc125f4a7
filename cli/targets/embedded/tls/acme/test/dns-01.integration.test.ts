// One certificate with wildcards by DNS-01: dynamic updates to a real DNS server (knot), and a hook program.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { X509Certificate, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { Resolver } from "node:dns/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service/log";
import { findFreePort, waitUntil } from "@swath/testing";

import { makeFolder } from "../../../ingress/test/harness.ts";
import { sendDnsUpdate } from "../dns-update.ts";
import { createAcmeManager } from "../manager.ts";
import { certificateFile, readAcmeState } from "../records.ts";
import type { DnsSettings } from "../settings.ts";
import { listWishes } from "../wishes.ts";
import { type Pebble, pebbleSkipReason, startPebble } from "./pebble.ts";

const KNOT = "/usr/sbin/knotd";
const skip = pebbleSkipReason() || (existsSync(KNOT) ? false : "needs Debian's package knot");
const DOMAIN = "eo.example.org";
const HOSTS = [`*.${DOMAIN}`, `*.objstore.${DOMAIN}`, DOMAIN];
const folder = makeFolder();
const logger = createLogger("test", "silent");
const secret = randomBytes(32).toString("base64");
const resolver = new Resolver({ timeout: 2000 });
let knot: ChildProcess;
let dnsPort: number;
let pebble: Pebble;

before(async () => {
  if (skip !== false) {
    return;
  }
  dnsPort = await findFreePort();
  const home = join(folder.path, "knot");
  mkdirSync(home);
  writeFileSync(
    join(home, "example.org.zone"),
    "$ORIGIN example.org.\n$TTL 60\n@ SOA ns1 admin 1 3600 600 86400 60\n@ NS ns1\nns1 A 127.0.0.1\n*.eo A 127.0.0.1\neo A 127.0.0.1\n",
  );
  writeFileSync(
    join(home, "knot.conf"),
    [
      `server:\n  rundir: "${home}"\n  listen: 127.0.0.1@${dnsPort}`,
      `database:\n  storage: "${home}"`,
      `key:\n  - id: swath\n    algorithm: hmac-sha256\n    secret: "${secret}"`,
      "acl:\n  - id: swath\n    key: swath\n    action: update\n    update-type: [TXT]",
      `zone:\n  - domain: example.org\n    storage: "${home}"\n    file: example.org.zone\n    acl: swath\n    zonefile-sync: -1\n    journal-content: changes`,
    ].join("\n"),
  );
  knot = spawn(KNOT, ["-c", join(home, "knot.conf")], { stdio: "ignore" });
  resolver.setServers([`127.0.0.1:${dnsPort}`]);
  await waitUntil("knot answers", async () => (await resolver.resolve4(DOMAIN).catch(() => [])).length > 0, 20);
  pebble = await startPebble({
    folder: join(folder.path, "pebble"),
    httpPort: await findFreePort(),
    dnsServer: `127.0.0.1:${dnsPort}`,
  });
});

after(async () => {
  await pebble?.stop();
  if (knot !== undefined) {
    knot.kill("SIGKILL");
    await once(knot, "exit");
  }
  folder.close();
});

const update = (): DnsSettings & { kind: "update" } => ({
  kind: "update",
  host: "127.0.0.1",
  port: dnsPort,
  key: { name: "swath", algorithm: "hmac-sha256", secret },
  propagationSeconds: 0,
});

async function issue(dns: DnsSettings, name: string): Promise<string> {
  const state = join(folder.path, name);
  const manager = createAcmeManager({
    settings: { issuer: "acme", directoryUrl: pebble.directoryUrl, caFile: pebble.caFile, dns },
    folder: state,
    challengeFolder: join(folder.path, "challenges"),
    wishes: listWishes(DOMAIN, [{ host: `objstore.${DOMAIN}`, wildcard: true }], true),
    logger,
    onIssued: () => {},
  });
  await manager.tick();
  manager.close();
  return state;
}

function checkIssued(state: string): void {
  assert.equal(readAcmeState(state).certificates[DOMAIN]?.lastError?.text, undefined);
  const { subjectAltName = "" } = new X509Certificate(readFileSync(certificateFile(state, DOMAIN)));
  assert.deepEqual(subjectAltName.split(", ").sort(), HOSTS.map((host) => `DNS:${host}`).sort());
}

const findText = (name: string) => resolver.resolveTxt(name).catch(() => []);

test("by dynamic updates signed with a key; no record is left", { skip }, async () => {
  checkIssued(await issue(update(), "update"));
  assert.deepEqual(await findText(`_acme-challenge.${DOMAIN}`), []);
  assert.deepEqual(await findText(`_acme-challenge.objstore.${DOMAIN}`), []);
});

test("an update leaves the records of others alone", { skip }, async () => {
  const name = `_acme-challenge.other.${DOMAIN}`;
  const change = (action: "add" | "remove", value: string) =>
    sendDnsUpdate({
      ...update(),
      server: { host: "127.0.0.1", port: dnsPort },
      zone: "example.org",
      action,
      name,
      value,
    });
  await change("add", "mine");
  await change("add", "theirs");
  await change("add", "mine");
  assert.equal((await findText(name)).length, 2);
  await change("remove", "mine");
  await change("remove", "mine");
  assert.deepEqual(await findText(name), [["theirs"]]);
});

for (const [title, change, expected] of [
  [
    "a key that the server does not know",
    { key: { name: "other", algorithm: "hmac-sha256", secret } },
    /NOTAUTH.*ACME_DNS_KEY/s,
  ],
  [
    "a wrong secret",
    { key: { name: "swath", algorithm: "hmac-sha256", secret: "AAAA" } },
    /NOTAUTH.*ACME_DNS_KEY_SECRET/s,
  ],
  ["no key", { key: undefined }, /(REFUSED|NOTAUTH).*ACME_DNS_KEY_NAME/s],
  ["a zone that is not there", { zone: "example.net" }, /NOTAUTH.*ACME_DNS_ZONE/s],
] as const) {
  test(`refused with what to do: ${title}`, { skip }, async () => {
    const { key, ...rest } = { ...update(), ...change };
    const state = await issue({ ...rest, ...(key && { key }) }, title.replaceAll(" ", "-"));
    const { lastError } = readAcmeState(state).certificates[DOMAIN] ?? {};
    assert.match(`${lastError?.text} ${lastError?.advice}`, expected);
  });
}

test("by a hook program, and its error is shown when it fails", { skip }, async () => {
  const program = join(folder.path, "hook");
  const log = join(folder.path, "hook.log");
  const nsupdate = join(import.meta.dirname, "hook.ts");
  const place = JSON.stringify({ ...update(), zone: "example.org" });
  writeFileSync(program, `#!/bin/sh\necho "$1 $2" >> ${log}\nexec ${process.execPath} ${nsupdate} '${place}' "$@"\n`);
  chmodSync(program, 0o755);
  checkIssued(await issue({ kind: "hook", program, propagationSeconds: 0 }, "hook-state"));
  const calls = readFileSync(log, "utf8").trim().split("\n");
  assert.equal(calls.filter((line) => line.startsWith("present ")).length, 3);
  assert.equal(calls.filter((line) => line.startsWith("cleanup ")).length, 3);
  assert.deepEqual(await findText(`_acme-challenge.${DOMAIN}`), []);
  writeFileSync(program, "#!/bin/sh\necho no such zone >&2\nexit 3\n");
  const state = await issue({ kind: "hook", program, propagationSeconds: 0 }, "hook-fails");
  assert.match(readAcmeState(state).certificates[DOMAIN]?.lastError?.text ?? "", /no such zone/);
});
