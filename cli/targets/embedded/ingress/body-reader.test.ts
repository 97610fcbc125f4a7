import assert from "node:assert/strict";
import { test } from "node:test";

import { BodyReader, type Framing } from "./body-reader.ts";

function read(framing: Framing, parts: readonly string[]) {
  let body = "";
  let trailers: string | undefined;
  const reader = new BodyReader(framing, {
    onBody: (slice) => {
      body += slice.toString("latin1");
    },
    onBodyEnd: (lines) => {
      trailers = lines;
    },
  });
  let taken = 0;
  for (const part of parts) {
    taken += reader.feed(Buffer.from(part, "latin1"));
  }
  return { body, trailers, taken, done: reader.done };
}

test("chunked bodies read the same wherever they are cut", () => {
  const message = "4\r\nwiki\r\nA;x=y\r\n0123456789\r\n0\r\nT: 1\r\n\r\nGET / HTTP/1.1";
  for (let size = 1; size <= message.length; size++) {
    const parts = message.match(new RegExp(`[^]{1,${size}}`, "g")) as string[];
    const { body, trailers, taken, done } = read({ kind: "chunked" }, parts);
    assert.deepEqual({ body, trailers, done }, { body: "wiki0123456789", trailers: "T: 1\r\n", done: true });
    assert.equal(taken, message.indexOf("GET"), "what follows belongs to the next message");
  }
});

test("bodies of a known length take their bytes and no more", () => {
  const { body, taken, done } = read({ kind: "length", length: 5 }, ["he", "lloGET"]);
  assert.deepEqual({ body, taken, done }, { body: "hello", taken: 5, done: true });
  assert.equal(read({ kind: "length", length: 0 }, ["x"]).taken, 0);
  assert.equal(read({ kind: "length", length: 3 }, ["x"]).done, false);
});

test("refuses a chunk line and trailers without bound", () => {
  assert.throws(() => read({ kind: "chunked" }, [`1;${"x".repeat(2000)}`]), /too long/);
  assert.throws(
    () => read({ kind: "chunked" }, ["0\r\n", ...Array.from({ length: 200 }, () => `A: ${"x".repeat(90)}\r\n`)]),
    /too long/,
  );
});
