import assert from "node:assert/strict";
import { test } from "node:test";

import { type StreamEvent, createEventParser } from "./event-stream.ts";

test("events are read whatever pieces the stream comes in", () => {
  const stream =
    ': hello\n\nevent: policy\ndata: {"clientId":\ndata: "ades"}\n\ndata: x\r\n\r\nevent: empty\n\nevent:keys\rdata:{}\r\rtail';
  const expected: StreamEvent[] = [
    { event: "policy", data: '{"clientId":\n"ades"}' },
    { event: "message", data: "x" },
    { event: "keys", data: "{}" },
  ];
  for (let size = 1; size <= stream.length; size += 1) {
    const events: StreamEvent[] = [];
    const parse = createEventParser((event) => events.push(event));
    for (let at = 0; at < stream.length; at += size) {
      parse(stream.slice(at, at + size));
    }
    assert.deepEqual(events, expected, `pieces of ${size}`);
  }
});

test("a stream that never ends an event is given up", () => {
  const parse = createEventParser(() => undefined);
  assert.throws(() => parse("x".repeat(70_000)), /too long/);
});
