import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { Agent, request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import { connect } from "node:tls";
import { promisify } from "node:util";

import { findFreePort, skipWithout } from "@swath/testing";
import { WebSocket, WebSocketServer } from "ws";

import { ensureCertificate } from "../../tls/certificate-file.ts";
import { hostsToCover } from "../../tls/hosts.ts";
import { createLocalCa } from "../../tls/local-ca.ts";
import type { IngressConfig } from "../config.ts";
import {
  type IngressProcess,
  send,
  configOf,
  makeFolder,
  routeTo,
  startIngress,
  startPod,
  writeConfig,
} from "./harness.ts";

const folder = makeFolder();
const file = join(folder.path, "ingress.json");
const domain = "swath.test";
let ports: { plain: number; tls: number };
let pod: Server;
let ingress: IngressProcess;
let caFile: string;

before(async () => {
  const socketPath = join(folder.path, "pod.sock");
  pod = await startPod(socketPath, (request, response) => response.end(JSON.stringify(request.headers)));
  new WebSocketServer({ server: pod }).on("connection", (socket) => socket.on("message", (data) => socket.send(data)));
  ports = { plain: await findFreePort(), tls: await findFreePort() };
  const issuer = createLocalCa({ folder: join(folder.path, "ca"), domain });
  caFile = await issuer.certificateFile();
  const pem = join(folder.path, "leaf.pem");
  const routes = [
    routeTo(`a.${domain}`, socketPath),
    routeTo(`ws.${domain}`, socketPath, { wildcard: true }),
    routeTo(`cat.${domain}`, socketPath, { perWorkspace: true }),
  ];
  const hosts = hostsToCover(domain, routes, true);
  await ensureCertificate({ file: pem, hosts, issuer, caFile });
  const challengeFolder = join(folder.path, "challenges");
  mkdirSync(challengeFolder);
  writeFileSync(join(challengeFolder, "tok-en_1"), "tok-en_1.thumb");
  const config: IngressConfig = configOf(ports.plain, routes, {
    listeners: [
      { address: "127.0.0.1", port: ports.plain, tls: false },
      { address: "127.0.0.1", port: ports.tls, tls: true },
    ],
    sslRedirect: true,
    challengeFolder,
    tls: {
      certificates: [{ hosts, certFile: pem, keyFile: pem }],
      workspaces: { caFolder: join(folder.path, "ca"), domain },
    },
  });
  writeConfig(file, config);
  ingress = await startIngress(file);
});

after(async () => {
  pod.closeAllConnections();
  pod.close();
  await ingress.stop();
  folder.close();
});

/** What a host answers to a client that trusts the local CA and no other. */
function get(host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: "127.0.0.1",
        port: ports.tls,
        path: "/x",
        servername: host,
        headers: { host: `${host}:${ports.tls}` },
        ca: readFileSync(caFile),
        agent: false,
        timeout: 10_000,
      },
      (response) => void text(response).then(resolve, reject),
    );
    outgoing.on("timeout", () => outgoing.destroy(new Error(`${host} does not answer`)));
    outgoing.on("error", reject);
    outgoing.end();
  });
}

test("serves names of the certificate, verified against the local CA", async () => {
  for (const host of [`a.${domain}`, `ws.${domain}`, `b.ws.${domain}`]) {
    const headers = JSON.parse(await get(host)) as Record<string, string>;
    assert.equal(headers["x-forwarded-proto"], "https");
    assert.equal(headers["x-forwarded-port"], String(ports.tls));
  }
  await assert.rejects(get(`c.d.ws.${domain}`), /certificate|subject name/i);
});

test("hosts of workspaces get a certificate when they are asked for", async () => {
  for (const host of [`cat.ws-eric.${domain}`, `cat.ws-bob.${domain}`, `cat.ws-eric.${domain}`]) {
    assert.equal((JSON.parse(await get(host)) as Record<string, string>)["x-forwarded-host"], `${host}:${ports.tls}`);
  }
  // A bucket of that name, not a workspace.
  await get(`cat.ws.${domain}`);
  await assert.rejects(get(`cat.a.b.${domain}`), /certificate|subject name/i);
});

test("refuses TLS below 1.2", async () => {
  await assert.rejects(
    new Promise((_resolve, reject) => {
      const versions = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
      connect({ host: "127.0.0.1", port: ports.tls, ...versions }).on("error", reject);
    }),
    /protocol version/,
  );
});

test("offers no suites without authenticated encryption", async () => {
  for (const ciphers of [
    "ECDHE-ECDSA-AES128-SHA256",
    "ECDHE-ECDSA-AES256-SHA",
    "ECDHE-RSA-AES128-SHA",
    "AES128-GCM-SHA256",
  ]) {
    await assert.rejects(
      new Promise((resolve, reject) => {
        const options = { minVersion: "TLSv1.2", maxVersion: "TLSv1.2", ciphers, rejectUnauthorized: false } as const;
        const socket = connect({ host: "127.0.0.1", port: ports.tls, servername: `a.${domain}`, ...options }, () => {
          socket.destroy();
          resolve(undefined);
        });
        socket.on("error", reject);
      }),
      /handshake failure/,
      ciphers,
    );
  }
});

test("every answer over TLS says HSTS and nosniff, whoever gives it; without TLS nosniff alone", async () => {
  for (const host of [`a.${domain}`, `unknown.${domain}`]) {
    const head = await new Promise<string>((resolve, reject) => {
      let text = "";
      const socket = connect(
        { host: "127.0.0.1", port: ports.tls, servername: `a.${domain}`, rejectUnauthorized: false },
        () => socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      );
      socket.on("data", (chunk) => (text += chunk.toString("latin1")));
      socket.on("error", reject).on("close", () => resolve(text.split("\r\n\r\n", 1)[0] ?? ""));
    });
    assert.match(head, /strict-transport-security: max-age=31536000/i, host);
    assert.match(head, /x-content-type-options: nosniff/i, host);
  }
  const plain = await send({ port: ports.plain, host: "unknown.test" });
  assert.equal(plain.headers["strict-transport-security"], undefined);
  assert.equal(plain.headers["x-content-type-options"], "nosniff");
});

test("sends requests without TLS to https with its port, method and path kept", async () => {
  const { status, headers } = await send({
    port: ports.plain,
    host: `a.${domain}:80`,
    path: "/p?q=1",
    method: "POST",
    body: "x",
  });
  assert.equal(status, 308);
  assert.equal(headers.location, `https://a.${domain}:${ports.tls}/p?q=1`);
  assert.equal((await send({ port: ports.plain, host: "unknown.test" })).status, 404);
});

test("answers ACME challenges without TLS, and only prepared ones", async () => {
  const path = "/.well-known/acme-challenge/tok-en_1";
  const { status, body } = await send({ port: ports.plain, host: `a.${domain}`, path });
  assert.equal(status, 200);
  assert.equal(body, "tok-en_1.thumb");
  for (const other of ["other", "..%2fca", "../../ca"]) {
    const response = await send({
      port: ports.plain,
      host: `a.${domain}`,
      path: `/.well-known/acme-challenge/${other}`,
    });
    assert.equal(response.status, 308);
  }
});

test("carries WebSockets over TLS", async () => {
  const socket = new WebSocket(`wss://127.0.0.1:${ports.tls}/`, [], {
    headers: { host: `x.ws.${domain}` },
    agent: new Agent({ servername: `x.ws.${domain}`, ca: readFileSync(caFile) }),
  });
  const echoed = await new Promise((resolve, reject) => {
    socket.on("error", reject).on("open", () => socket.send("hello"));
    socket.on("message", (data: Buffer) => resolve(data.toString()));
  });
  assert.equal(echoed, "hello");
  socket.terminate();
});

test("a certificate that cannot be loaded keeps the one before", async () => {
  const config = JSON.parse(readFileSync(file, "utf8")) as IngressConfig;
  writeConfig(file, {
    ...config,
    tls: { certificates: [{ hosts: [domain], certFile: "/nowhere", keyFile: "/nowhere" }] },
  });
  await ingress.waitFor(({ reason }) => String(reason).includes("/nowhere"));
  assert.ok(await get(`a.${domain}`));
  writeConfig(file, config);
});

test(
  "nmap finds TLS 1.2 and 1.3 with strong suites, and none of the weaknesses that it knows",
  { skip: skipWithout("nmap") },
  async () => {
    const scripts = "ssl-enum-ciphers,ssl-dh-params,ssl-heartbleed,ssl-poodle,ssl-ccs-injection,sslv2,sslv2-drown";
    const { stdout } = await promisify(execFile)("/usr/bin/nmap", [
      ..."-n -Pn -sT --max-retries 1 --host-timeout 100s --script".split(" "),
      `+${scripts.replaceAll(",", ",+")}`,
      "-p",
      String(ports.tls),
      "127.0.0.1",
    ]);
    const versions = [...stdout.matchAll(/^\| +(SSLv\d|TLSv[\d.]+):/gm)].map(([, version]) => version);
    assert.deepEqual(versions, ["TLSv1.2", "TLSv1.3"], stdout);
    assert.match(stdout, /least strength: A/);
    assert.doesNotMatch(stdout, /VULNERABLE|warnings:|ssl-dh-params|sslv2/i);
  },
);
