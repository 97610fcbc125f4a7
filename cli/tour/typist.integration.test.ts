import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { createTypist } from "./typist.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "swath-typist-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

function openTypist() {
  let shown = "";
  const typist = createTypist({
    stdout: { write: (text) => (shown += text) },
    env: { PATH: process.env["PATH"] },
    folder,
  });
  return { typist, shown: () => shown };
}

test("a command is shown with who typed it, and what it answered; each person has a place for logins", async () => {
  const { typist, shown } = openTypist();
  typist.step("Begin", "think");
  assert.equal(await typist.type("eric", 'echo one; echo "$XDG_CONFIG_HOME" >&2'), "one");
  assert.match(shown(), /^\n1\. Begin\n\neric\$ echo one; .*\none\n/);
  assert.ok(shown().includes(join(folder, "eric")));
});

test("a command that fails ends it, with the step, the command, what it said and what to do", async () => {
  const { typist } = openTypist();
  typist.step("Begin", "look into the log");
  await assert.rejects(typist.type("eric", "echo because >&2; exit 3"), (error: Error) => {
    assert.match(error.message, /^step 1, "Begin": this ended with 3:\n {2}echo because/);
    assert.match(error.message, /\n {2}because\n {2}-> look into the log$/);
    return true;
  });
  await assert.rejects(typist.type("eric", "echo two", { prints: /^one$/ }), /answered something else than expected/);
});

test("what is to be refused is to be refused in the words that were expected", async () => {
  const { typist } = openTypist();
  typist.step("Refuse", "mend it");
  await typist.type("bob", "echo answered 404 >&2; exit 1", { fails: /404/ });
  await assert.rejects(typist.type("bob", "true", { fails: /404/ }), /this was to be refused, and was not/);
  await assert.rejects(typist.type("bob", "exit 1", { fails: /404/ }), /this failed otherwise than expected/);
});

test("what needs a moment is typed until it is so, and shown once", async () => {
  const { typist, shown } = openTypist();
  typist.step("Wait", "wait longer");
  const file = join(folder, "counter");
  await typist.typeUntil("eric", `echo x >> ${file}; test $(wc -l < ${file}) -ge 3`);
  assert.equal(shown().match(/eric\$/g)?.length, 1);
});
