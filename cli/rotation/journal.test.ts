import assert from "node:assert/strict";
import { test } from "node:test";

import { type Change, type Journal, endJournal, enterStep, givenSecrets, readJournal } from "./journal.ts";

const changes: readonly Change[] = [
  { subject: "registry", manner: "both accepted", name: "PASSWORD", from: "old", to: "new" },
  { subject: "objstore-encryption", manner: "keyring", name: "KEYS", from: "old-key", to: "new-key" },
  { subject: "objstore", manner: "both accepted", variable: "OBJSTORE_ROOT_PASSWORD", from: "given", to: "given-new" },
];
const journal = (step: Journal["step"]): Journal => ({ step, changes });

test("in every step of a rotation the value that was used before it is accepted, until the last", () => {
  const secrets = new Map([
    ["PASSWORD", "old"],
    ["KEYS", "old-key"],
    ["untouched", "x"],
  ]);
  enterStep(secrets, journal(1));
  assert.deepEqual([secrets.get("PASSWORD"), secrets.get("also.PASSWORD")], ["old", "new"]);
  assert.equal(secrets.get("KEYS"), "new-key,old-key");
  assert.deepEqual(givenSecrets(journal(1)), {
    OBJSTORE_ROOT_PASSWORD: { kind: "given", value: "given", also: "given-new" },
  });
  const again = new Map(secrets);
  enterStep(again, journal(1));
  assert.deepEqual(again, secrets, "a step that is entered again after a crash changes nothing");
  enterStep(secrets, journal(2));
  assert.deepEqual([secrets.get("PASSWORD"), secrets.get("also.PASSWORD")], ["new", "old"]);
  assert.equal(secrets.get("KEYS"), "new-key,old-key");
  assert.deepEqual(readJournal(secrets), journal(2));
  enterStep(secrets, journal(3));
  endJournal(secrets);
  assert.deepEqual(Object.fromEntries(secrets), { PASSWORD: "new", KEYS: "new-key", untouched: "x" });
  assert.deepEqual(givenSecrets(journal(3)), { OBJSTORE_ROOT_PASSWORD: { kind: "given", value: "given-new" } });
  assert.equal(readJournal(secrets), undefined);
});
