// Certificates from a real ACME server, which looks at the ingress as a real one would: on the port of http.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service/log";

import { type IngressProcess, makeFolder } from "../../../ingress/test/harness.ts";
import { type AcmeManager, createAcmeManager } from "../manager.ts";
import { certificateFile, readAcmeState } from "../records.ts";
import type { AcmeSettings } from "../settings.ts";
import { listWishes } from "../wishes.ts";
import { startChallengeIngress } from "./challenge-ingress.ts";
import { type Pebble, pebbleSkipReason, startPebble } from "./pebble.ts";

const skip = pebbleSkipReason();
const DAY = 86_400_000;
const HOSTS = ["ades.eo.example.org", "portal.eo.example.org"];
const folder = makeFolder();
const challengeFolder = join(folder.path, "challenges");
const logger = createLogger("test", "silent");
let pebble: Pebble;
let ingress: IngressProcess;

before(async () => {
  if (skip !== false) {
    return;
  }
  const started = await startChallengeIngress(folder.path, challengeFolder, HOSTS);
  ingress = started.ingress;
  pebble = await startPebble({
    folder: join(folder.path, "pebble"),
    httpPort: started.httpPort,
    // Every other nonce is refused, and authorizations are granted again half of the time.
    env: { PEBBLE_WFE_NONCEREJECT: "50", PEBBLE_AUTHZREUSE: "50" },
    config: { externalAccountMACKeys: { "kid-1": "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W" } },
  });
});

after(async () => {
  await pebble?.stop();
  await ingress?.stop();
  folder.close();
});

interface Fixture {
  readonly state: string;
  readonly manager: AcmeManager;
  /** Moves the clock. */
  readonly wait: (milliseconds: number) => void;
  readonly issued: () => number;
}

let count = 0;

function createFixture(
  more: Partial<AcmeSettings> = {},
  hosts = HOSTS,
  state = join(folder.path, `acme${count++}`),
): Fixture {
  let offset = 0;
  let issued = 0;
  const manager = createAcmeManager({
    settings: {
      issuer: "acme",
      directoryUrl: pebble.directoryUrl,
      caFile: pebble.caFile,
      email: "ops@example.org",
      ...more,
    },
    folder: state,
    challengeFolder,
    wishes: listWishes(
      "eo.example.org",
      hosts.map((host) => ({ host })),
      false,
    ),
    logger,
    onIssued: () => (issued += 1),
    now: () => Date.now() + offset,
  });
  return { state, manager, wait: (milliseconds) => (offset += milliseconds), issued: () => issued };
}

const readLeaf = (state: string, host: string) => new X509Certificate(readFileSync(certificateFile(state, host)));

test(
  "issues one certificate a host, with keys that only the operator reads, and leaves no challenge behind",
  { skip },
  async () => {
    const { state, manager } = createFixture();
    await manager.tick();
    const root = new X509Certificate(await pebble.readRoot());
    for (const host of HOSTS) {
      const [leaf = "", intermediate = ""] = readFileSync(certificateFile(state, host), "utf8").split(
        /(?<=END CERTIFICATE-----)/,
      );
      assert.equal(new X509Certificate(leaf).subjectAltName, `DNS:${host}`);
      assert.ok(new X509Certificate(leaf).verify(new X509Certificate(intermediate).publicKey));
      assert.ok(new X509Certificate(intermediate).verify(root.publicKey));
    }
    for (const name of readdirSync(state)) {
      assert.equal(statSync(join(state, name)).mode & 0o777, 0o600, name);
    }
    assert.deepEqual(readdirSync(challengeFolder), []);
    assert.equal(readAcmeState(state).orders.length, HOSTS.length);
    manager.close();
  },
);

test("keeps a good certificate, and renews it at two thirds of its life", { skip }, async () => {
  const { state, manager, wait, issued } = createFixture({}, HOSTS.slice(0, 1));
  const [host = ""] = HOSTS;
  await manager.tick();
  const { serialNumber, validFrom, validTo } = readLeaf(state, host);
  const life = Date.parse(validTo) - Date.parse(validFrom);
  wait(life * 0.6);
  await manager.tick();
  assert.equal(readLeaf(state, host).serialNumber, serialNumber);
  wait(life * 0.07);
  await manager.tick();
  assert.equal(issued(), 2);
  assert.notEqual(readLeaf(state, host).serialNumber, serialNumber);
  manager.close();
});

test(
  "keeps the running certificate through a day without the authority, and waits longer each time",
  { skip },
  async () => {
    const { state, manager, wait, issued } = createFixture({}, HOSTS.slice(0, 1));
    const [host = ""] = HOSTS;
    await manager.tick();
    const { serialNumber, validFrom, validTo } = readLeaf(state, host);
    await pebble.halt();
    const end = Date.parse(validTo) - Date.parse(validFrom);
    wait(end * 0.7);
    const delays: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      await manager.tick();
      const record = readAcmeState(state).certificates[host];
      assert.equal(record?.failures, attempt + 1);
      assert.match(record.lastError?.text ?? "", /cannot be reached/);
      const delay = record.nextAt - (record.lastError?.at ?? 0);
      delays.push(delay);
      // Before that, nothing is asked.
      await manager.tick();
      assert.equal(readAcmeState(state).certificates[host]?.failures, attempt + 1);
      wait(delay);
    }
    assert.deepEqual(
      delays.map((delay) => delay / 60_000),
      [1, 2, 4, 8, 16, 32, 60, 60],
    );
    assert.equal(readLeaf(state, host).serialNumber, serialNumber);
    // It comes back without its accounts: the key is registered once more.
    await pebble.restart();
    await manager.tick();
    assert.match(readAcmeState(state).certificates[host]?.lastError?.text ?? "", /accountDoesNotExist/);
    wait(DAY);
    await manager.tick();
    assert.equal(issued(), 2);
    assert.equal(readAcmeState(state).certificates[host]?.lastError, undefined);
    manager.close();
  },
);

test(
  "says what to do when a host leads elsewhere, keeps away for a quarter of an hour also after a restart, and goes on",
  { skip },
  async () => {
    const fixture = createFixture();
    const [host = ""] = HOSTS;
    await pebble.dns("add-a", { host: `${host}.`, addresses: ["127.0.0.9"] });
    await fixture.manager.tick();
    const { failures, lastError, nextAt = 0 } = readAcmeState(fixture.state).certificates[host] ?? {};
    assert.equal(failures, 1);
    assert.match(lastError?.text ?? "", /^ades\.eo\.example\.org: .*connection/i);
    assert.match(lastError?.advice ?? "", /port 80/);
    assert.equal(nextAt - (lastError?.at ?? 0), 15 * 60_000);
    // The other host is not held up by this one.
    assert.ok(readLeaf(fixture.state, HOSTS[1] ?? ""));
    fixture.manager.close();
    await pebble.dns("clear-a", { host: `${host}.` });
    const next = createFixture({}, HOSTS, fixture.state);
    const { orders } = readAcmeState(fixture.state);
    await next.manager.tick();
    assert.deepEqual(readAcmeState(fixture.state).orders, orders);
    next.wait(15 * 60_000);
    await next.manager.tick();
    assert.ok(readLeaf(fixture.state, host));
    assert.equal(readAcmeState(fixture.state).certificates[host]?.failures, 0);
    assert.deepEqual(readdirSync(challengeFolder), []);
    next.manager.close();
  },
);

test("replaces a certificate that is damaged, and waits where the limit of duplicates is near", { skip }, async () => {
  const { state, manager, wait, issued } = createFixture({}, HOSTS.slice(0, 1));
  const [host = ""] = HOSTS;
  await manager.tick();
  writeFileSync(certificateFile(state, host), "damaged");
  wait(13 * 3_600_000);
  await manager.tick();
  assert.equal(issued(), 2);
  rmSync(certificateFile(state, host));
  const state0 = readAcmeState(state);
  const times = Array.from({ length: 25_000 }, () => Date.now());
  const record = { ...state0.certificates[host], issued: times, nextAt: 0 };
  writeFileSync(join(state, "certificates.json"), JSON.stringify({ ...state0, certificates: { [host]: record } }));
  const next = createFixture({}, [host], state);
  await next.manager.tick();
  assert.equal(next.issued(), 0);
  assert.ok((readAcmeState(state).certificates[host]?.nextAt ?? 0) > Date.now() + 6 * DAY);
  manager.close();
  next.manager.close();
});

test("a bound account: refused without its key with what to set, accepted with it", { skip }, async () => {
  const hmacKey = "zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W";
  const bound = await startPebble({
    folder: join(folder.path, "bound"),
    httpPort: pebble.httpPort,
    config: { externalAccountBindingRequired: true, externalAccountMACKeys: { "kid-1": hmacKey } },
  });
  const place = { directoryUrl: bound.directoryUrl, caFile: bound.caFile };
  const without = createFixture(place, HOSTS.slice(0, 1));
  await without.manager.tick();
  const { lastError } = readAcmeState(without.state).certificates[HOSTS[0] ?? ""] ?? {};
  assert.match(`${lastError?.text} ${lastError?.advice}`, /ACME_EAB_KID/);
  const withKey = createFixture({ ...place, externalAccount: { kid: "kid-1", hmacKey } }, HOSTS.slice(0, 1));
  await withKey.manager.tick();
  assert.equal(withKey.issued(), 1);
  without.manager.close();
  withKey.manager.close();
  await bound.stop();
});
