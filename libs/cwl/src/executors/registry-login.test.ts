import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findLogin } from "./registry-login.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

test("the login for the longest part of an image's name is found", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "cwl-login-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "auth.json");
  const auths = {
    "registry.example.org": { auth: base64("eric:one:two") },
    "registry.example.org/team": { auth: base64("team:three") },
    "localhost:5000": { auth: base64("local:four") },
    "https://index.docker.io/v1/": { auth: base64("hub:five") },
    "helped.example.org": {},
  };
  writeFileSync(file, JSON.stringify({ auths }));
  const cases: readonly [image: string, username?: string, password?: string][] = [
    ["registry.example.org/crop:1", "eric", "one:two"],
    ["docker://registry.example.org/team/crop@sha256:00", "team", "three"],
    ["registry.example.org/teams/crop", "eric", "one:two"],
    ["localhost:5000/crop:latest", "local", "four"],
    ["alpine:3", "hub", "five"],
    ["docker.io/library/alpine", "hub", "five"],
    ["other.example.org/crop"],
    ["registry.example.org.evil.example/crop"],
  ];
  for (const [image, username, password] of cases) {
    assert.deepEqual(findLogin(file, image), username === undefined ? undefined : { username, password }, image);
  }
  assert.throws(() => findLogin(file, "helped.example.org/crop"), /holds no password for helped\.example\.org/);
  assert.throws(() => findLogin(join(folder, "none"), "crop"), /cannot read the registry credentials/);
  writeFileSync(file, "secret-word");
  assert.throws(
    () => findLogin(file, "crop"),
    (error) => error instanceof Error && /it is not JSON/.test(error.message) && !error.message.includes("secret-word"),
  );
  writeFileSync(file, "[]");
  assert.throws(() => findLogin(file, "crop"), /needs an object "auths"/);
});
