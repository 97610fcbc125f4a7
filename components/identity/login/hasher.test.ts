import assert from "node:assert/strict";
import { test } from "node:test";

import { createPasswordHasher } from "./hasher.ts";

const GOOD = { memoryCost: 1024, timeCost: 1, parallelism: 1 };
/** The library refuses it. More than a machine has would not do for a test: kernels give that, and take it back by ending the process. */
const TOO_LITTLE_MEMORY = 1;

test("hashes again, and says that it is well, after calls that failed", async () => {
  let now = 0;
  const parameters = { ...GOOD, memoryCost: TOO_LITTLE_MEMORY };
  const hasher = createPasswordHasher(1, { parameters, clock: () => now });
  hasher.checkHealth();
  for (let round = 0; round < 4; round += 1) {
    await assert.rejects(hasher.hash("a"), /Memory cost is too small/);
    // Of a name that nobody has.
    await assert.rejects(hasher.verify(undefined, "a"), /Memory cost is too small/);
  }
  assert.throws(() => hasher.checkHealth(), /the last 8 passwords could not be hashed/);
  now += 31_000;
  hasher.checkHealth();

  parameters.memoryCost = GOOD.memoryCost;
  const stored = await hasher.hash("a");
  assert.equal(await hasher.verify(stored, "a"), true);
  assert.equal(await hasher.verify(stored, "b"), false);
  assert.equal(await hasher.verify(undefined, "a"), false, "an unknown name is wrong, and no fault");
  hasher.checkHealth();
});

test("compares right after stored hashes that are damaged", async () => {
  const hasher = createPasswordHasher(1, { parameters: GOOD });
  const stored = await hasher.hash("a");
  const damaged = ["", "$argon2id$", stored.slice(0, -5), stored.replace(/m=\d+/, `m=${TOO_LITTLE_MEMORY}`)];
  for (const each of [...damaged, ...damaged, ...damaged]) {
    await assert.rejects(hasher.verify(each, "a"), Error);
  }
  hasher.checkHealth();
  assert.equal(await hasher.verify(stored, "a"), true, "the turns of those that failed are free");
});
