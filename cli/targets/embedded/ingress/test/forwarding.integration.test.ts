import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { findFreePort, skipWithout } from "@swath/testing";
import { WebSocket, WebSocketServer } from "ws";

import {
  type IngressProcess,
  send,
  configOf,
  makeFolder,
  routeTo,
  sendRaw,
  startIngress,
  startPod,
  writeConfig,
} from "./harness.ts";

const folder = makeFolder();
const socketPath = join(folder.path, "pod.sock");
const file = join(folder.path, "ingress.json");
let port: number;
let pod: Server;
let ingress: IngressProcess;

before(async () => {
  port = await findFreePort();
  pod = await startPod(socketPath, reply);
  const sockets = new WebSocketServer({ server: pod });
  sockets.on("connection", (socket) => socket.on("message", (data, binary) => socket.send(data, { binary })));
  writeConfig(
    file,
    configOf(port, [
      routeTo("echo.test", socketPath),
      routeTo("ws.test", socketPath, { wildcard: true }),
      routeTo("cat.test", socketPath, { perWorkspace: true }),
      routeTo("absent.test", null, { reason: "image is missing" }),
    ]),
  );
  ingress = await startIngress(file);
});

after(async () => {
  pod.closeAllConnections();
  pod.close();
  await ingress.stop();
  folder.close();
});

function reply(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://pod");
  if (pathname === "/trailers") {
    response.writeHead(200, { trailer: "X-Sum" });
    response.write("body");
    response.addTrailers({ "X-Sum": "42" });
    response.end();
  } else if (pathname === "/hash") {
    const hash = createHash("sha256");
    request.on("data", (chunk: Buffer) => hash.update(chunk)).on("end", () => response.end(hash.digest("hex")));
  } else if (pathname === "/mirror") {
    request.pipe(response);
  } else if (pathname === "/early") {
    response.writeHead(413).end("too much");
  } else if (pathname === "/hop") {
    response.writeHead(200, { connection: "x-hop", "x-hop": "1", "x-end": "2", "content-length": "2" }).end("ok");
  } else {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      const { method, url, rawHeaders, rawTrailers } = request;
      response.end(JSON.stringify({ method, url, rawHeaders, rawTrailers, body }));
    });
  }
}

interface Echo {
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: string[];
  readonly rawTrailers: string[];
  readonly body: string;
}

function readEcho(text: string): Echo & { headers: Record<string, string> } {
  const echo = JSON.parse(text) as Echo;
  const headers: Record<string, string> = {};
  for (let index = 0; index < echo.rawHeaders.length; index += 2) {
    headers[(echo.rawHeaders[index] as string).toLowerCase()] = echo.rawHeaders[index + 1] as string;
  }
  return { ...echo, headers };
}

test("routes by host name: case, trailing dot and port do not matter", async () => {
  for (const host of [
    "echo.test",
    "ECHO.Test",
    "echo.test.",
    "echo.test:8080",
    "ws.test",
    "a.b.ws.test",
    "cat.ws-eric.test",
  ]) {
    const { status } = await send({ port, host });
    assert.equal(status, 200, host);
  }
  const { status, headers, body } = await send({ port, host: "x.echo.test" });
  assert.equal(status, 404);
  assert.equal(headers["content-type"], "application/problem+json");
  assert.deepEqual((JSON.parse(body) as { hosts: string[] }).hosts, [
    "absent.test",
    "cat.test",
    "echo.test",
    "ws.test",
  ]);
});

test("answers a browser with a page, and escapes what it names", async () => {
  const { body, headers } = await send({ port, host: "nobody.test", headers: { accept: "text/html,*/*" } });
  assert.match(headers["content-type"] ?? "", /^text\/html/);
  assert.match(body, /no service with the host name nobody\.test/);
  assert.doesNotMatch(
    await sendRaw(port, "GET / HTTP/1.1\r\nHost: a&b\r\nAccept: text/html\r\nConnection: close\r\n\r\n"),
    /a&b/,
  );
});

test("says why a pod is not there and when to come back", async () => {
  const { status, headers, body } = await send({ port, host: "absent.test" });
  assert.equal(status, 503);
  assert.equal(headers["retry-after"], "5");
  assert.match(body, /image is missing/);
});

test("sets forwarding fields itself and strips identities, in every spelling", async () => {
  const { body } = await send({
    port,
    host: "echo.test:8080",
    headers: {
      "X-Forwarded-For": "6.6.6.6",
      "x-forwarded-PROTO": "https",
      "X-Forwarded-Host": "evil",
      "X-Real-IP": "6.6.6.6",
      "X-Request-Id": "mine",
      "X-Auth-Username": "root",
      "x-auth-roles": "admin",
      X_Auth_Userid: "0",
      "X-Auth_Token": "t",
      X_Forwarded_For: "6.6.6.6",
      Authorization: "Bearer kept",
      "X-Other": "kept",
      Forwarded: "for=kept",
    },
  });
  const { headers, rawHeaders } = readEcho(body);
  assert.equal(headers["x-forwarded-for"], "127.0.0.1");
  assert.equal(headers["x-forwarded-proto"], "http");
  assert.equal(headers["x-forwarded-host"], "echo.test:8080");
  assert.equal(headers["x-forwarded-port"], "8080");
  assert.equal(headers["x-real-ip"], "127.0.0.1");
  assert.match(headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(headers["host"], "echo.test:8080");
  assert.equal(headers["authorization"], "Bearer kept");
  assert.equal(headers["x-other"], "kept");
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase().replaceAll("_", "-"));
  assert.deepEqual(
    names.filter((name) => name.startsWith("x-auth-")),
    [],
  );
  assert.equal(names.filter((name) => name === "x-forwarded-for").length, 1);
});

test("believes a trusted proxy whom it acts for, and nobody what the proxy was told", async () => {
  const own = await findFreePort();
  const behind = join(folder.path, "behind.json");
  writeConfig(behind, configOf(own, [routeTo("echo.test", socketPath)], { trustedProxies: ["127.0.0.0/8"] }));
  const other = await startIngress(behind);
  try {
    const { body } = await send({
      port: own,
      host: "echo.test",
      headers: { "X-Forwarded-For": "6.6.6.6, 203.0.113.5", "X-Forwarded-Proto": "https", X_Forwarded_For: "7.7.7.7" },
    });
    const { headers } = readEcho(body);
    assert.equal(headers["x-forwarded-for"], "203.0.113.5");
    assert.equal(headers["x-real-ip"], "203.0.113.5");
    assert.equal(headers["x-forwarded-proto"], "https");
  } finally {
    await other.stop();
  }
});

test("keeps hop-by-hop fields to their hop", async () => {
  const { body } = await send({
    port,
    host: "echo.test",
    headers: {
      connection: "close, x-mine",
      "x-mine": "1",
      "keep-alive": "timeout=1",
      "proxy-connection": "x",
      te: "gzip",
    },
  });
  const { headers } = readEcho(body);
  for (const name of ["x-mine", "keep-alive", "proxy-connection", "te"]) {
    assert.equal(headers[name], undefined, name);
  }
  const hop = await send({ port, host: "echo.test", path: "/hop" });
  assert.equal(hop.headers["x-hop"], undefined);
  assert.equal(hop.headers["x-end"], "2");
});

test("carries bodies, chunked ones too, and trailers both ways", async () => {
  const sized = readEcho((await send({ port, host: "echo.test", method: "PUT", body: "hello" })).body);
  assert.equal(sized.body, "hello");
  const raw = await sendRaw(
    port,
    "POST /x?y=1 HTTP/1.1\r\nHost: echo.test\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\nConnection: close\r\n\r\n3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nX-T: end\r\nX-Auth-Roles: admin\r\n\r\n",
  );
  const chunked = JSON.parse(/\{.*\}/.exec(raw)?.[0] ?? "") as Echo;
  assert.equal(chunked.body, "abcde");
  assert.equal(chunked.url, "/x?y=1");
  assert.deepEqual(chunked.rawTrailers, ["X-T", "end"]);
  const { body, trailers } = await send({
    port,
    host: "echo.test",
    path: "/trailers",
    headers: { te: "trailers", connection: "te" },
  });
  assert.equal(body, "body");
  assert.equal(trailers["x-sum"], "42");
});

test("answers HEAD without a body and goes on with the connection", async () => {
  const raw = await sendRaw(
    port,
    "HEAD /hop HTTP/1.1\r\nHost: echo.test\r\n\r\nGET /hop HTTP/1.1\r\nHost: echo.test\r\nConnection: close\r\n\r\n",
  );
  assert.equal(raw.match(/HTTP\/1\.1 200/g)?.length, 2);
  assert.equal(raw.match(/\r\n\r\nok/g)?.length, 1);
});

test("handles pipelined requests in order and HTTP/1.0", async () => {
  const requests = [1, 2, 3].map(
    (n) => `GET /${n} HTTP/1.1\r\nHost: echo.test\r\n${n === 3 ? "Connection: close\r\n" : ""}\r\n`,
  );
  const raw = await sendRaw(port, requests.join(""));
  assert.deepEqual(raw.match(/"url":"\/\d"/g), ['"url":"/1"', '"url":"/2"', '"url":"/3"']);
  const old = await sendRaw(port, "GET /trailers HTTP/1.0\r\nHost: echo.test\r\n\r\n");
  assert.match(old, /Connection: close/);
  assert.doesNotMatch(old, /chunked/i);
  assert.ok(old.endsWith("\r\n\r\nbody"));
});

test("passes 100-continue from the pod", async () => {
  const raw = await sendRaw(
    port,
    "POST / HTTP/1.1\r\nHost: echo.test\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n",
    "100 Continue\r\n\r\n",
  );
  assert.match(raw, /^HTTP\/1\.1 100 Continue/);
});

test("passes 100-continue to curl", { skip: skipWithout("curl") }, async () => {
  const { stdout } = await promisify(execFile)("curl", [
    ..."-sS --max-time 10 -H Host:echo.test -H Expect:100-continue --data-binary 0123456789".split(" "),
    `http://127.0.0.1:${port}/hash`,
  ]);
  assert.equal(stdout, createHash("sha256").update("0123456789").digest("hex"));
});

test(
  "delivers an answer that comes before the body has been sent, and ends the connection",
  { skip: skipWithout("curl") },
  async () => {
    const { stdout } = await promisify(execFile)("curl", [
      ..."-sS --max-time 10 -H Host:echo.test -H Expect:100-continue -w %{http_code} -T /dev/zero".split(" "),
      `http://127.0.0.1:${port}/early`,
    ]).catch((error: { stdout: string }) => error);
    assert.match(stdout, /too much413/);
  },
);

test("streams a body up and down unchanged", async () => {
  const body = randomBytes(5_000_000);
  const expected = createHash("sha256").update(body).digest("hex");
  const up = await send({ port, host: "echo.test", method: "POST", path: "/hash", body });
  assert.equal(up.body, expected);
  const response = await fetch(`http://127.0.0.1:${port}/mirror`, { method: "POST", body }).catch(() => undefined);
  assert.equal(response?.status, 404, "the host 127.0.0.1 is unknown");
});

test("streams what curl reads from a pipe", { skip: skipWithout("curl") }, async () => {
  const { stdout } = await promisify(execFile)("bash", [
    "-c",
    `head -c 30000000 /dev/zero | curl -sS --max-time 30 -H Host:echo.test -T - http://127.0.0.1:${port}/mirror | wc -c`,
  ]);
  assert.equal(stdout.trim(), "30000000");
});

test("carries WebSockets, binary and text", async () => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, { headers: { host: "sub.ws.test" } });
  await once(socket, "open");
  for (const size of [1, 100_000, 3_000_000]) {
    const sent = randomBytes(size);
    socket.send(sent);
    const [received] = (await once(socket, "message")) as [Buffer];
    assert.ok(sent.equals(received), `${size} bytes`);
  }
  socket.close(1000, "done");
  const [code, reason] = (await once(socket, "close")) as [number, Buffer];
  assert.equal(code, 1000);
  assert.equal(reason.toString(), "done");
});

test("does not offer h2c upstream", async () => {
  const raw = await sendRaw(
    port,
    "GET / HTTP/1.1\r\nHost: echo.test\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n",
  );
  const { headers } = readEcho(/\{.*\}/.exec(raw)?.[0] ?? "");
  assert.equal(headers["upgrade"], undefined);
  assert.equal(headers["http2-settings"], undefined);
});

test("logs each request as a JSON line without its query", async () => {
  await send({ port, host: "echo.test", path: "/logged?secret=1" });
  const line = await ingress.waitFor(({ path }) => path === "/logged");
  assert.equal(line["status"], 200);
  assert.equal(line["service"], "echo");
  assert.doesNotMatch(JSON.stringify(ingress.lines), /secret/);
});
