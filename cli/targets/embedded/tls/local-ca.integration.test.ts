import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";

import { ensureCertificate } from "./certificate-file.ts";
import { createLocalCa } from "./local-ca.ts";

const folder = mkdtempSync(join(tmpdir(), "swath-tls-"));
const issuer = createLocalCa({ folder, domain: "swath.test" });
const file = join(folder, "leaf.pem");
const hosts = ["*.swath.test", "*.ws.swath.test", "swath.test"];

after(() => rmSync(folder, { recursive: true, force: true }));

test("issues certificates that OpenSSL accepts, kept where only the owner reads", async () => {
  const caFile = await issuer.certificateFile();
  const { renewed } = await ensureCertificate({ file, hosts, issuer, caFile });
  assert.ok(renewed);
  for (const host of ["swath.test", "a.swath.test", "a.ws.swath.test"]) {
    await promisify(execFile)("openssl", ["verify", "-x509_strict", "-CAfile", caFile, "-verify_hostname", host, file]);
  }
  for (const name of ["swath.test.ca.key", "leaf.pem"]) {
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  }
});

test("keeps a good certificate, and replaces one that is old, damaged, of another CA or lacks a host", async () => {
  const caFile = await issuer.certificateFile();
  const ensure = (more: { hosts?: readonly string[]; now?: Date } = {}) =>
    ensureCertificate({ file, hosts, issuer, caFile, ...more });
  assert.equal((await ensure()).renewed, false);
  assert.equal((await ensure({ now: new Date(Date.now() + 50 * 86_400_000) })).renewed, false);
  assert.equal((await ensure({ now: new Date(Date.now() + 70 * 86_400_000) })).renewed, true);
  assert.equal((await ensure({ hosts: [...hosts, "*.more.swath.test"] })).renewed, true);
  writeFileSync(file, readFileSync(file, "utf8").slice(0, 500));
  assert.equal((await ensure()).renewed, true);
  const other = createLocalCa({ folder: join(folder, "other"), domain: "swath.test" });
  const otherCa = await other.certificateFile();
  assert.equal((await ensureCertificate({ file, hosts, issuer: other, caFile: otherCa })).renewed, true);
});

test("cannot sign outside its domain, by itself and by its certificate", async () => {
  await assert.rejects(issuer.issue(["example.org"]), /not below that domain/);
  const caFile = await issuer.certificateFile();
  const { stdout } = await promisify(execFile)("openssl", ["x509", "-in", caFile, "-noout", "-ext", "nameConstraints"]);
  assert.match(stdout, /critical[^]*Permitted:\s+DNS:swath\.test\s+Excluded:\s+IP:0\.0\.0\.0/);
  assert.ok(new X509Certificate(readFileSync(caFile)).ca);
});

test("says when its key does not belong to its certificate, and deletes nothing", async () => {
  const broken = join(folder, "broken");
  const ca = createLocalCa({ folder: broken, domain: "swath.test" });
  await ca.certificateFile();
  const key = join(broken, "swath.test.ca.key");
  writeFileSync(key, readFileSync(join(folder, "swath.test.ca.key")));
  await assert.rejects(ca.issue(hosts), /is not the key of/);
  assert.ok(statSync(key).size > 0);
});
