import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { Problem, createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import { lingerOnUnreadBodies } from "@swath/service/linger";
import { sendWholeRequest, waitUntil } from "@swath/testing";

const BYTES = 16 << 20;
const BODY = Buffer.alloc(BYTES, "a");
const CHUNKED = Buffer.concat([Buffer.from(`${BYTES.toString(16)}\r\n`), BODY, Buffer.from("\r\n0\r\n\r\n")]);
const app = createApp(createLogger("test", "silent"), { bodyLimit: 64 << 10 });
app.post("/", () => ({}));
app.addContentTypeParser("application/x-ndjson", (_request, payload, done) => done(null, payload));
// The body is a stream that the handler does not read, as of a load that has no place.
app.post("/unread", () => {
  throw new Problem(429, "Send it later.", { headers: { "retry-after": "1" } });
});
app.post("/closing", () => {
  throw new Problem(408, "Nothing came for a while.", { headers: { connection: "close" } });
});
const plain = createServer((_request, response) => response.writeHead(403).end());
lingerOnUnreadBodies(plain);
const ports = { app: 0, plain: 0 };

before(async () => {
  await app.listen({ port: 0, host: "127.0.0.1" });
  plain.listen(0, "127.0.0.1");
  await once(plain, "listening");
  ports.app = (app.server.address() as AddressInfo).port;
  ports.plain = (plain.address() as AddressInfo).port;
});
after(async () => {
  await app.close();
  plain.close();
});

for (const { title, server, path, type, status } of [
  { title: "a body over the limit", server: "app", path: "/", type: "application/json", status: 413 },
  { title: "a stream that nothing reads", server: "app", path: "/unread", type: "application/x-ndjson", status: 429 },
  {
    title: "a stream whose refusal ends the connection",
    server: "app",
    path: "/closing",
    type: "application/x-ndjson",
    status: 408,
  },
  {
    title: "a body of a server without a framework",
    server: "plain",
    path: "/",
    type: "application/json",
    status: 403,
  },
] as const) {
  test(`refuses ${title} to clients that read the response after they have sent all`, async () => {
    for (const connection of ["keep-alive", "close"]) {
      for (const [framing, bytes] of [
        [`content-length: ${BYTES}`, BODY],
        ["transfer-encoding: chunked", CHUNKED],
      ] as const) {
        const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: ${connection}\r\ncontent-type: ${type}\r\n${framing}\r\n\r\n`;
        const response = await sendWholeRequest({ port: ports[server], host: "127.0.0.1" }, head, bytes);
        assert.equal(response.slice(0, 12), `HTTP/1.1 ${status}`, `${framing}, ${connection}`);
      }
    }
  });
}

test("closes a connection that is to be closed as soon as the body has been read", async () => {
  const socket = connect(ports.app, "127.0.0.1");
  socket.write(
    "POST /closing HTTP/1.1\r\nhost: a\r\ncontent-type: application/x-ndjson\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n",
  );
  const [head] = (await once(socket, "data")) as [Buffer];
  assert.match(head.toString(), /^HTTP\/1\.1 408 /);
  const open = () => promisify(app.server.getConnections.bind(app.server))();
  assert.equal(await open(), 1, "the rest may still come");
  socket.resume().write("0\r\n\r\n");
  await once(socket, "close");
  await waitUntil("the connection is closed", async () => (await open()) === 0);
});

test("JSON under another type is refused, not taken for a body without fields", async () => {
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/octet-stream"]) {
    const { status } = await fetch(`http://127.0.0.1:${ports.app}/`, {
      method: "POST",
      headers: { "content-type": type },
      body: '{"limit":1}',
    });
    assert.equal(status, 415, type);
  }
});
