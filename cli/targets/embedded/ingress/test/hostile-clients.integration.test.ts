import assert from "node:assert/strict";
import type { Server } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { findFreePort } from "@swath/testing";

import {
  type IngressProcess,
  configOf,
  makeFolder,
  routeTo,
  sendRaw,
  startIngress,
  startPod,
  writeConfig,
} from "./harness.ts";

const folder = makeFolder();
const seen: string[] = [];
let port: number;
let pod: Server;
let ingress: IngressProcess;

before(async () => {
  port = await findFreePort();
  const socketPath = join(folder.path, "pod.sock");
  pod = await startPod(socketPath, (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    request.resume().on("end", () => response.end("ok"));
  });
  const file = join(folder.path, "ingress.json");
  writeConfig(file, configOf(port, [routeTo("pod.test", socketPath)]));
  ingress = await startIngress(file);
});

after(async () => {
  pod.closeAllConnections();
  pod.close();
  await ingress.stop();
  folder.close();
});

const SMUGGLED = "GET /smuggled HTTP/1.1\r\nHost: pod.test\r\n\r\n";

/** Attacks, each with the status that ends it. */
const ATTACKS: Readonly<Record<string, readonly [string, number]>> = {
  "both lengths": [`Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "both lengths, other order": [`Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "two lengths": [`Content-Length: 0\r\nContent-Length: 40\r\n\r\n${SMUGGLED}`, 400],
  "two equal lengths": [`Content-Length: 0\r\nContent-Length: 0\r\n\r\n${SMUGGLED}`, 400],
  "a list of lengths": [`Content-Length: 0, 0\r\n\r\n${SMUGGLED}`, 400],
  "a signed length": [`Content-Length: +0\r\n\r\n${SMUGGLED}`, 400],
  "a hexadecimal length": [`Content-Length: 0x0\r\n\r\n${SMUGGLED}`, 400],
  "an empty length": [`Content-Length:\r\n\r\n${SMUGGLED}`, 400],
  "a length too large": [`Content-Length: 99999999999999999999\r\n\r\n${SMUGGLED}`, 400],
  "a space before the colon": [`Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a folded line": [`Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a vertical tab": [`Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a tab after the coding": [`Transfer-Encoding: chunked\t\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a tab and a space after the coding": [`Transfer-Encoding: chunked \t \r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a no-break space": [`Transfer-Encoding: \xa0chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 501],
  "an unknown coding": [`Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 501],
  "two codings": [`Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a coding after chunked": [`Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${SMUGGLED}`, 501],
  "underscores in the coding": [`Transfer_Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "underscores in the length": [`Content_Length: 0\r\n\r\n${SMUGGLED}`, 400],
  "a bare LF between fields": [`X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a bare CR in a field": [`X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a NUL": [`X: y\0\r\n\r\n${SMUGGLED}`, 400],
  "a field without a name": [`: y\r\n\r\n${SMUGGLED}`, 400],
  "Connection that names the length": [`Connection: content-length\r\nContent-Length: 40\r\n\r\n${SMUGGLED}`, 400],
  "a second Host": [`Host: other.test\r\n\r\n${SMUGGLED}`, 400],
  "a chunk size with a sign": [`Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${SMUGGLED}`, 400],
  "a chunk size with 0x": [`Transfer-Encoding: chunked\r\n\r\n0x2\r\nab\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a chunk size that overflows": [
    `Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\nab\r\n0\r\n\r\n${SMUGGLED}`,
    400,
  ],
  "a chunk longer than its size": [`Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a bare LF after a chunk size": [`Transfer-Encoding: chunked\r\n\r\n2\nab\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a bare LF in a chunk extension": [`Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\nab\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "a bare CR in a chunk extension": [`Transfer-Encoding: chunked\r\n\r\n2;\rb\r\nab\r\n0\r\n\r\n${SMUGGLED}`, 400],
  "an unknown expectation": [`Expect: coffee\r\n\r\n${SMUGGLED}`, 417],
};

for (const [name, [rest, status]] of Object.entries(ATTACKS)) {
  test(`refuses ${name}, and whatever follows it`, async () => {
    seen.length = 0;
    const raw = await sendRaw(port, `POST /attack HTTP/1.1\r\nHost: pod.test\r\n${rest}`);
    assert.match(raw, new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(raw.match(/HTTP\/1\.1 \d/g)?.length, 1, "one answer, then the end");
    assert.match(raw, /\r\nConnection: close\r\n/);
    assert.ok(!seen.some((line) => line.includes("smuggled")), seen.join());
  });
}

/** Start lines and heads, each with its status. */
const HEADS: Readonly<Record<string, readonly [string, number]>> = {
  "no Host": ["GET / HTTP/1.1\r\n\r\n", 400],
  "a Host that is none": ["GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400],
  CONNECT: ["CONNECT pod.test:443 HTTP/1.1\r\nHost: pod.test\r\n\r\n", 405],
  "CONNECT to a path": ["CONNECT / HTTP/1.1\r\nHost: pod.test\r\n\r\n", 405],
  "HTTP/2 in the first line": ["GET / HTTP/2.0\r\nHost: pod.test\r\n\r\n", 505],
  "HTTP/0.9": ["GET /\r\n\r\n", 400],
  "two spaces": ["GET  / HTTP/1.1\r\nHost: pod.test\r\n\r\n", 400],
  "a fragment": ["GET /#x HTTP/1.1\r\nHost: pod.test\r\n\r\n", 400],
  "a relative path": ["GET x HTTP/1.1\r\nHost: pod.test\r\n\r\n", 400],
  "a TLS greeting": ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
  "an LF head": ["GET / HTTP/1.1\nHost: pod.test\n\n", 400],
  "a large field": [`GET / HTTP/1.1\r\nHost: pod.test\r\nX: ${"x".repeat(40_000)}\r\n\r\n`, 431],
  "an endless first line": [`GET /${"x".repeat(70_000)}`, 431],
  "many fields": [`GET / HTTP/1.1\r\nHost: pod.test\r\n${"a: b\r\n".repeat(300)}\r\n`, 431],
};

for (const [name, [bytes, status]] of Object.entries(HEADS)) {
  test(`answers ${name} with ${status}`, async () => {
    seen.length = 0;
    assert.match(await sendRaw(port, bytes), new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.deepEqual(seen, []);
  });
}

test("routes by the authority of an absolute target and sends the path on", async () => {
  seen.length = 0;
  const raw = await sendRaw(
    port,
    "GET http://pod.test/abs?x HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n",
  );
  assert.match(raw, /^HTTP\/1\.1 200/);
  assert.deepEqual(seen, ["GET /abs?x"]);
});

test("reads a head and a chunked body that arrive byte by byte", async () => {
  const bytes =
    "\r\nPOST /slow HTTP/1.1\r\nHost: pod.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n0\r\n\r\n";
  assert.match(await sendRaw(port, bytes.split("")), /^HTTP\/1\.1 200/);
});

test("goes on after clients that break off in every phase", async () => {
  for (const bytes of ["", "GET", "POST / HTTP/1.1\r\nHost: pod.test\r\nContent-Length: 9\r\n\r\nab", SMUGGLED]) {
    await new Promise<void>((resolve) => {
      const socket = connect(port, "127.0.0.1", () => {
        socket.write(bytes, () => {
          socket.resetAndDestroy();
          resolve();
        });
      });
    });
  }
  assert.match(await sendRaw(port, "GET / HTTP/1.1\r\nHost: pod.test\r\nConnection: close\r\n\r\n"), /^HTTP\/1\.1 200/);
});
