import assert from "node:assert/strict";
import { test } from "node:test";

import { OwnerTurns } from "./owner-turns.ts";

function createTurns(threads: number) {
  let now = 0;
  const turns = new OwnerTurns(threads, () => now);
  return {
    turns,
    wait: (milliseconds: number) => (now += milliseconds),
    use: (owner: string, milliseconds: number) => {
      turns.begin(owner);
      now += milliseconds;
      turns.end(owner);
    },
  };
}

test("who comes first is the first, and has one thread at a time", () => {
  const { turns } = createTurns(2);
  assert.equal(turns.choose(["eve", "bob"]), 0);
  turns.begin("eve");
  assert.equal(turns.choose(["eve", "eve", "bob"]), 2);
  assert.equal(turns.choose(["eve"]), -1);
  turns.begin("bob");
  assert.equal(turns.choose(["carol"]), -1);
});

test("an owner with twenty long documents before those of another has one more turn at most", () => {
  for (const threads of [1, 2]) {
    const { turns, use } = createTurns(threads);
    use("eve", 300);
    assert.equal(turns.choose([...Array.from({ length: 20 }, () => "eve"), "bob"]), 20);
  }
});

test("two owners with documents that take long leave a thread to others", () => {
  const { turns, use } = createTurns(2);
  use("eve", 5000);
  use("mallory", 5000);
  assert.equal(turns.choose(["eve", "mallory"]), 0);
  turns.begin("eve");
  assert.equal(turns.choose(["mallory", "mallory"]), -1);
  assert.equal(turns.choose(["mallory", "bob"]), 1);
});

test("with one thread, owners whose documents take long have it when nobody else waits", () => {
  const { turns, use } = createTurns(1);
  use("eve", 5000);
  assert.equal(turns.choose(["eve"]), 0);
});

test("what an owner used is forgotten with time", () => {
  const { turns, use, wait } = createTurns(2);
  use("mallory", 5000);
  turns.begin("eve");
  assert.equal(turns.choose(["mallory"]), -1);
  wait(90_000);
  assert.equal(turns.choose(["mallory"]), 0);
});

test("the time in which a thread starts is not counted as its owner's use", () => {
  const { turns, wait } = createTurns(2);
  turns.begin("bob");
  wait(5000);
  turns.started("bob");
  wait(10);
  turns.end("bob");
  turns.begin("eve");
  assert.equal(turns.choose(["bob"]), 0);
});
