// ACME renewal information (RFC 9773) of a real server: a release of Pebble newer than Debian's, built with Go from its module; PEBBLE names one
// that there is.
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service/log";
import { runCommand } from "@swath/testing";

import { type IngressProcess, makeFolder } from "../../../ingress/test/harness.ts";
import { createAcmeManager } from "../manager.ts";
import { certificateFile, readAcmeState } from "../records.ts";
import { findCertId } from "../renewal-info.ts";
import { listWishes } from "../wishes.ts";
import { startChallengeIngress } from "./challenge-ingress.ts";
import { type Pebble, pebbleSkipReason, startPebble } from "./pebble.ts";

const MODULE = "github.com/letsencrypt/pebble/v2";
const RELEASE = "v2.8.0";
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const [HOST, OTHER] = ["ades.eo.example.org", "portal.eo.example.org"] as const;
const folder = makeFolder();
const challengeFolder = join(folder.path, "challenges");
let missing: string | false = pebbleSkipReason();
let pebble: Pebble;
let ingress: IngressProcess;

before(async () => {
  const program = missing === false ? await buildPebble() : undefined;
  if (program === undefined) {
    return;
  }
  const started = await startChallengeIngress(folder.path, challengeFolder, [HOST, OTHER]);
  ingress = started.ingress;
  pebble = await startPebble({ folder: join(folder.path, "pebble"), httpPort: started.httpPort, program });
});
after(async () => {
  await pebble?.stop();
  await ingress?.stop();
  folder.close();
});

async function buildPebble(): Promise<string | undefined> {
  const provided = process.env["PEBBLE"];
  if (provided !== undefined) {
    return provided;
  }
  const place = join(folder.path, "build");
  mkdirSync(place);
  writeFileSync(join(place, "go.mod"), `module build\n\ngo 1.23\n\nrequire ${MODULE} ${RELEASE}\n`);
  const program = join(place, "pebble");
  const built = await runCommand("go", ["build", "-o", program, `${MODULE}/cmd/pebble`], {
    cwd: place,
    env: { ...process.env, GOFLAGS: "-mod=mod" },
  }).catch((error: Error) => ({ status: 1, stderr: error.message }));
  missing =
    built.status === 0 ? false : `needs Go, and its module proxy: ${built.stderr.trim().split("\n").at(-1) ?? ""}`;
  return built.status === 0 ? program : undefined;
}

let count = 0;

function createFixture(host: string) {
  let offset = 0;
  const state = join(folder.path, `acme${count++}`);
  const manager = createAcmeManager({
    settings: {
      issuer: "acme",
      directoryUrl: pebble.directoryUrl,
      caFile: pebble.caFile,
      email: "ops@example.org",
    },
    folder: state,
    challengeFolder,
    wishes: listWishes("eo.example.org", [{ host }], false),
    logger: createLogger("test", "silent"),
    onIssued: () => {},
    now: () => Date.now() + offset,
  });
  return {
    manager,
    wait: (milliseconds: number) => (offset += milliseconds),
    read: () => readFileSync(certificateFile(state, host), "utf8"),
    record: () => readAcmeState(state).certificates[host],
  };
}

const serialOf = (pem: string) => new X509Certificate(pem).serialNumber;
const leafOf = (pem: string) => pem.slice(0, pem.indexOf("-----END CERTIFICATE-----") + 25);
const windowAt = (start: number, length = HOUR) => ({
  suggestedWindow: { start: new Date(start).toISOString(), end: new Date(start + length).toISOString() },
});

test("the moment of a renewal is within the window that the server suggests", async (t) => {
  if (missing !== false) {
    t.skip(missing);
    return;
  }
  const { manager, record, read } = createFixture(HOST);
  await manager.tick();
  // The certificate is there; the next look asks for the window.
  await manager.tick();
  const advice = record()?.advice;
  assert.ok(advice !== undefined, JSON.stringify(record()));
  assert.equal(advice.certId, await findCertId(read()));
  const { validFrom, validTo } = new X509Certificate(read());
  assert.ok(advice.renewAt > Date.parse(validFrom) && advice.renewAt < Date.parse(validTo));
  manager.close();
});

test("a certificate that has to go is replaced early", async (t) => {
  if (missing !== false) {
    t.skip(missing);
    return;
  }
  const { manager, read, wait, record } = createFixture(OTHER);
  await manager.tick();
  const first = read();
  const info = { ...windowAt(Date.now() - DAY), explanationURL: "https://example.org/why" };
  await pebble.setRenewalInfo(leafOf(first), info);
  // The server says how long its word is good; a day is the longest that it is taken for.
  wait(DAY + HOUR);
  await manager.tick();
  assert.notEqual(serialOf(read()), serialOf(first), JSON.stringify(record()));
  manager.close();
});

test("a window that ends before it begins is none, and a broken answer neither renews nor stops anything", async (t) => {
  if (missing !== false) {
    t.skip(missing);
    return;
  }
  for (const info of [windowAt(Date.now() - DAY, -HOUR), { suggestedWindow: "soon" }, {}]) {
    const { manager, read, wait, record } = createFixture(HOST);
    await manager.tick();
    const first = read();
    await pebble.setRenewalInfo(leafOf(first), info);
    wait(DAY + HOUR);
    await manager.tick();
    assert.equal(serialOf(read()), serialOf(first));
    assert.equal(record()?.lastError, undefined);
    const { validFrom, validTo } = new X509Certificate(first);
    wait((Date.parse(validTo) - Date.parse(validFrom)) * 0.67);
    await manager.tick();
    assert.notEqual(serialOf(read()), serialOf(first), "two thirds of its life are over");
    manager.close();
  }
});
