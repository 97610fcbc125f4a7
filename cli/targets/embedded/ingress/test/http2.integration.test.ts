import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Server } from "node:http";
import { type ClientHttp2Session, type OutgoingHttpHeaders, connect, constants } from "node:http2";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";

import { findFreePort, skipWithout } from "@swath/testing";

import { ensureCertificate } from "../../tls/certificate-file.ts";
import { hostsToCover } from "../../tls/hosts.ts";
import { createLocalCa } from "../../tls/local-ca.ts";
import { type IngressProcess, configOf, makeFolder, routeTo, startIngress, startPod, writeConfig } from "./harness.ts";

const folder = makeFolder();
const file = join(folder.path, "ingress.json");
const domain = "swath.test";
const BIG = Buffer.alloc(8 * 1024 * 1024, "swath");
let port: number;
let pod: Server;
let ingress: IngressProcess;
let caFile: string;
/** Bytes that the pod has read of a body that it does not end. */
let taken = 0;

before(async () => {
  const socketPath = join(folder.path, "pod.sock");
  pod = await startPod(socketPath, (request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://pod");
    const chunks: Buffer[] = [];
    switch (pathname) {
      case "/big":
        response.setHeader("content-length", BIG.length).end(BIG);
        return;
      case "/stall":
        request.on("data", (chunk: Buffer) => {
          taken += chunk.length;
          request.pause();
        });
        return;
      case "/refuse":
        response.writeHead(413).end("too much");
        return;
      case "/break":
        response.writeHead(200, request.url?.includes("length") ? { "content-length": 100 } : {}).write("only this");
        setTimeout(() => request.socket.destroy(), 20);
        return;
      case "/hints":
        response.writeEarlyHints({ link: "</a.css>; rel=preload" }, () => response.end("hinted"));
        return;
      case "/no-trailers":
        response.writeHead(200, { trailer: "x-sum" });
        response.end("body");
        return;
      case "/parts":
        for (let part = 0; part < 40; part += 1) {
          response.write(BIG.subarray(0, 1 + ((part * 7919) % 65_536)));
        }
        response.end();
        return;
      case "/trailers":
        response.writeHead(200, { trailer: "x-sum" });
        response.write("body");
        response.addTrailers({ "x-sum": "4" });
        response.end();
        return;
      case "/empty":
        response.writeHead(204, { "set-cookie": ["a=1", "b=2"] }).end();
        return;
      case "/slow":
        setTimeout(() => response.end("slow"), 300);
        return;
      default:
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () =>
          response.end(
            JSON.stringify({
              method: request.method,
              url: request.url,
              headers: request.headers,
              trailers: request.trailers,
              bytes: Buffer.concat(chunks).length,
            }),
          ),
        );
    }
  });
  port = await findFreePort();
  const issuer = createLocalCa({ folder: join(folder.path, "ca"), domain });
  caFile = await issuer.certificateFile();
  const pem = join(folder.path, "leaf.pem");
  const routes = [routeTo(`a.${domain}`, socketPath)];
  const hosts = hostsToCover(domain, routes, true);
  await ensureCertificate({ file: pem, hosts, issuer, caFile });
  writeConfig(
    file,
    configOf(port, routes, {
      listeners: [{ address: "127.0.0.1", port, tls: true }],
      tls: { certificates: [{ hosts, certFile: pem, keyFile: pem }] },
      http2: true,
    }),
  );
  ingress = await startIngress(file);
});

after(async () => {
  pod.closeAllConnections();
  pod.close();
  await ingress.stop();
  folder.close();
});

function open(): ClientHttp2Session {
  const session = connect(`https://127.0.0.1:${port}`, {
    servername: `a.${domain}`,
    ca: readFileSync(caFile),
    maxSessionMemory: 200,
  });
  session.on("error", () => {});
  return session;
}

interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly trailers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
  readonly hints: readonly unknown[];
}

function send(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Buffer,
): Promise<TestResponse> {
  return new Promise((resolve, reject) => {
    const stream = session.request(
      { ":authority": `a.${domain}`, ...headers },
      { endStream: body === undefined && headers["x-open"] === undefined },
    );
    let response: Readonly<Record<string, unknown>> = {};
    let trailers = {};
    const hints: unknown[] = [];
    const chunks: Buffer[] = [];
    stream.on("response", (received) => (response = received));
    stream.on("headers", (received) => hints.push(received));
    stream.on("trailers", (received) => (trailers = received));
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", reject);
    // Node's client closes a stream only when it has sent its whole body, wanted or not.
    stream.on("end", () =>
      resolve({ status: Number(response[":status"]), headers: response, trailers, hints, body: Buffer.concat(chunks) }),
    );
    if (body !== undefined) {
      stream.end(body);
    }
  });
}

async function withSession<Result>(work: (session: ClientHttp2Session) => Promise<Result>): Promise<Result> {
  const session = open();
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
}

const parse = ({ body }: TestResponse) =>
  JSON.parse(body.toString()) as {
    method: string;
    url: string;
    headers: Record<string, string>;
    trailers: Record<string, string>;
    bytes: number;
  };

test("curl speaks HTTP/2", { skip: skipWithout("curl") }, async () => {
  const { stdout } = await promisify(execFile)("curl", [
    ..."-sS --http2 --max-time 10 -o /dev/null -w %{http_version}|%{http_code} --resolve".split(" "),
    `a.${domain}:${port}:127.0.0.1`,
    "--cacert",
    caFile,
    `https://a.${domain}:${port}/x`,
  ]);
  assert.equal(stdout, "2|200");
});

test("a session of many requests at once speaks HTTP/2", async () => {
  await withSession(async (session) => {
    const responses = await Promise.all(
      Array.from({ length: 100 }, (_, index) => send(session, { ":path": `/x?n=${index}`, cookie: "a=1; b=2" })),
    );
    for (const [index, response] of responses.entries()) {
      const { url, headers } = parse(response);
      assert.equal(url, `/x?n=${index}`);
      assert.equal(headers["host"], `a.${domain}`);
      assert.equal(headers["x-forwarded-proto"], "https");
      assert.equal(headers["x-forwarded-for"], "127.0.0.1");
      assert.equal(headers["cookie"], "a=1; b=2");
      assert.equal(response.headers["strict-transport-security"], "max-age=31536000");
      assert.equal(response.headers["connection"], undefined);
    }
  });
});

test("bodies go both ways whole, with and without a length, with trailers", async () => {
  await withSession(async (session) => {
    const post = { ":method": "POST", ":path": "/x" };
    assert.equal(parse(await send(session, { ...post, "content-length": BIG.length }, BIG)).bytes, BIG.length);
    const chunked = parse(await send(session, post, BIG));
    assert.equal(chunked.bytes, BIG.length);
    assert.equal(chunked.headers["transfer-encoding"], "chunked");
    const none = parse(await send(session, post));
    assert.equal(none.headers["content-length"], "0");
    const big = await send(session, { ":path": "/big" });
    assert.ok(big.body.equals(BIG));
    const head = await send(session, { ":path": "/big", ":method": "HEAD" });
    assert.deepEqual([head.status, head.headers["content-length"], head.body.length], [200, String(BIG.length), 0]);
    assert.equal((await send(session, { ":path": "/trailers", te: "trailers" })).trailers["x-sum"], "4");
    assert.equal((await send(session, { ":path": "/no-trailers", te: "trailers" })).body.toString(), "body");
    const parts = await Promise.all(Array.from({ length: 60 }, () => send(session, { ":path": "/parts" })));
    assert.equal(new Set(parts.map(({ body }) => body.length)).size, 1);
    const empty = await send(session, { ":path": "/empty" });
    assert.equal(empty.status, 204);
    assert.deepEqual(empty.headers["set-cookie"], ["a=1", "b=2"]);
    const hinted = await send(session, { ":path": "/hints" });
    assert.equal((hinted.hints[0] as Record<string, unknown>)[":status"], 103);
    assert.equal(hinted.body.toString(), "hinted");
  });
});

test("what a client may not say is refused, and the other requests of its connection go on", async () => {
  await withSession(async (session) => {
    const slow = send(session, { ":path": "/slow" });
    assert.equal((await send(session, { ":path": "/x", ":authority": "other.test" })).status, 404);
    assert.equal((await send(session, { ":path": "/x", host: "other.test" }).catch(() => ({ status: 0 }))).status, 0);
    assert.equal((await send(session, { ":path": "/x", "x-auth-username": "eric", content_length: "5" })).status, 400);
    assert.equal((await send(session, { ":path": "/with space" }).catch(() => ({ status: 0 }))).status || 400, 400);
    const seen = parse(await send(session, { ":path": "/x", "x-auth-username": "eric", "x-forwarded-for": "1.2.3.4" }));
    assert.equal(seen.headers["x-auth-username"], undefined);
    assert.equal(seen.headers["x-forwarded-for"], "127.0.0.1");
    const large = await send(session, { ":path": "/x", "x-large": "x".repeat(60_000) }).catch(() => ({ status: 431 }));
    assert.equal(large.status, 431);
    assert.equal((await slow).body.toString(), "slow");
  });
});

test("an answer before the body's end, one that breaks off, and a client that goes away", async () => {
  await withSession(async (session) => {
    const early = await send(session, { ":method": "POST", ":path": "/refuse", "content-length": BIG.length }, BIG);
    assert.deepEqual([early.status, early.body.toString()], [413, "too much"]);
    await assert.rejects(send(session, { ":path": "/break" }), /INTERNAL_ERROR/);
    await assert.rejects(send(session, { ":path": "/break?length" }), /INTERNAL_ERROR/);
    const stream = session.request({ ":authority": `a.${domain}`, ":path": "/slow" });
    await sleep(50);
    stream.close(constants.NGHTTP2_CANCEL);
    const logged = await ingress.waitFor((line) => line["path"] === "/slow" && line["status"] === 499);
    assert.equal(logged["client"], "127.0.0.1");
    assert.equal((await send(session, { ":path": "/x" })).status, 200);
  });
});

test("a pod that does not read holds its own request back, not those beside it", async () => {
  await withSession(async (session) => {
    const stream = session.request({ ":authority": `a.${domain}`, ":method": "POST", ":path": "/stall" });
    stream.on("error", () => {});
    stream.write(Buffer.alloc(64 * 1024 * 1024));
    for (let turn = 0; turn < 20; turn += 1) {
      assert.equal((await send(session, { ":path": "/x" })).status, 200);
    }
    assert.ok(taken < 8 * 1024 * 1024, String(taken));
    stream.close();
  });
});

test("clients that vanish at any moment break nothing", async () => {
  const paths = ["/x", "/big", "/trailers", "/slow", "/hints", "/empty", "/refuse", "/break", "/stall"];
  const quiet = (stream: { on: (event: "error", listener: () => void) => unknown }) => stream.on("error", () => {});
  for (let round = 0; round < 40; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const session = open();
        for (const [at, path] of paths.entries()) {
          const method = (at + index) % 3 === 0 ? "POST" : "GET";
          const headers = { ":authority": `a.${domain}`, ":path": path, ":method": method, te: "trailers" };
          const stream = session.request(headers, { endStream: method === "GET" });
          quiet(stream);
          stream.resume();
          if (method === "POST") {
            stream.write(Buffer.alloc(((round * 7919 + index * 104_729) % 200) * 1024));
          }
          if ((round + at + index) % 4 === 0) {
            setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), (round * 3 + at) % 11);
          }
        }
        await sleep((round * 5 + index * 3) % 23);
        session.destroy();
      }),
    );
  }
  await Promise.all(
    Array.from({ length: 60 }, (_, index) => {
      const ALPNProtocols = ["h2"];
      const socket = connectTls({
        host: "127.0.0.1",
        port,
        servername: `a.${domain}`,
        rejectUnauthorized: false,
        ALPNProtocols,
      });
      socket.on("error", () => {});
      socket.on("secureConnect", () => {
        socket.write(index % 3 === 0 ? "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" : "GET / HTTP/1.1\r\n\r\n");
        setTimeout(() => socket.destroy(), index % 7);
      });
      return new Promise((resolve) => socket.once("close", resolve));
    }),
  );
  assert.equal(ingress.child.exitCode, null, JSON.stringify(ingress.lines.filter(({ level }) => level === "fatal")));
  await withSession(async (session) => assert.equal((await send(session, { ":path": "/x" })).status, 200));
});

test("a map that is moved about takes thousands of requests back, and its connection stays", async () => {
  await withSession(async (session) => {
    const kept = session.request({ ":authority": `a.${domain}`, ":path": "/stall" });
    let reason: unknown;
    kept.on("error", (error) => (reason = error));
    kept.on("close", () => (reason ??= "closed"));
    for (let move = 0; move < 50; move += 1) {
      const tiles = Array.from({ length: 40 }, () =>
        session.request({ ":authority": `a.${domain}`, ":path": "/slow" }).on("error", () => {}),
      );
      await sleep(2);
      tiles.forEach((tile) => tile.close(constants.NGHTTP2_CANCEL));
      assert.equal((await send(session, { ":path": "/x" })).status, 200);
    }
    assert.equal(reason, undefined);
  });
});

test("a drained ingress finishes what is open and says that it goes", async () => {
  const session = open();
  const slow = send(session, { ":path": "/slow" });
  await sleep(100);
  const goodbye = new Promise((resolve) => session.once("goaway", resolve));
  const stopped = ingress.stop();
  await goodbye;
  assert.equal((await slow).body.toString(), "slow");
  assert.equal(await stopped, 0);
  session.destroy();
});
