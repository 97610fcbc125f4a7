import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { test } from "node:test";

import { createDiskGuard } from "./disk-guard.ts";
import { StalledRequests } from "./stalled.ts";

/** As much of a request as a look at its progress needs. */
function toRequest(more: object) {
  const ended: string[] = [];
  const socket = { bytesRead: 0, bytesWritten: 0 };
  const message = {
    socket,
    complete: false,
    readableLength: 0,
    destroy: () => ended.push("destroyed"),
    ...more,
  };
  const response = Object.assign(new EventEmitter(), {
    headersSent: false,
    writableLength: 0,
    writeHead: (status: number) => {
      ended.push(String(status));
      return response;
    },
    end: (_body: string, done: () => void) => done(),
  });
  return {
    socket,
    ended,
    message: message as unknown as IncomingMessage,
    response: response as unknown as ServerResponse,
  };
}

test("an upload that stalls or trickles ends; one that goes on, or waits for this process, does not", () => {
  let now = 0;
  const stalled = new StalledRequests({ now: () => now });
  const silent = toRequest({});
  const trickling = toRequest({});
  const busy = toRequest({});
  const waiting = toRequest({ readableLength: 1000 });
  const done = toRequest({ complete: true });
  for (const { message, response } of [silent, trickling, busy, waiting, done]) {
    stalled.watch(message, response);
  }
  for (; now <= 60_000; now += 5000) {
    trickling.socket.bytesRead += 100;
    busy.socket.bytesRead += 1 << 20;
    stalled.endStalled();
  }
  stalled.close();
  assert.deepEqual(silent.ended, ["400", "destroyed"]);
  assert.deepEqual(trickling.ended, ["400", "destroyed"]);
  assert.deepEqual([busy.ended, waiting.ended, done.ended], [[], [], []]);
});

test("announcing much and sending nothing takes no room from others", () => {
  const guard = createDiskGuard(tmpdir(), 0);
  const announced = Math.floor(guard.read().free * 0.9);
  const releases = Array.from({ length: 20 }, () => guard.reserve(announced, { socket: { bytesRead: 0 } }));
  assert.throws(() => guard.reserve(guard.read().free + 1, { socket: { bytesRead: 0 } }), {
    code: "InsufficientStorage",
  });
  const sender = { socket: { bytesRead: 0 } };
  releases.push(guard.reserve(announced, sender));
  sender.socket.bytesRead = announced;
  assert.throws(() => guard.reserve(announced, { socket: { bytesRead: 0 } }), { code: "InsufficientStorage" });
  for (const release of releases) {
    release();
  }
});
