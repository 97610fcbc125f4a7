// Whoever looks after certificates is killed (SIGKILL) before and after every signed request to the ACME server; the next one finishes.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { type IncomingMessage, type ServerResponse } from "node:http";
import { type Server, createServer } from "node:https";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Agent, request } from "undici";

import { findFreePort } from "@swath/testing";

import { type IngressProcess, makeFolder } from "../../../ingress/test/harness.ts";
import { createLocalCa } from "../../local-ca.ts";
import { parseCertificate } from "../keys.ts";
import { certificateFile, readAcmeState } from "../records.ts";
import { startChallengeIngress } from "./challenge-ingress.ts";
import { type Pebble, pebbleSkipReason, startPebble } from "./pebble.ts";
import type { RunnerSettings } from "./runner.ts";

const skip = pebbleSkipReason();
const HOST = "ades.eo.example.org";
const folder = makeFolder();
const challengeFolder = join(folder.path, "challenges");
const agent = new Agent({ connect: { rejectUnauthorized: false } });
let pebble: Pebble;
let ingress: IngressProcess;
let proxy: Server;
let caFile: string;
let proxyPort: number;
let onRequest: (when: "before" | "after", path: string) => void = () => {};

before(async () => {
  if (skip !== false) {
    return;
  }
  const started = await startChallengeIngress(folder.path, challengeFolder, [HOST]);
  ingress = started.ingress;
  pebble = await startPebble({ folder: join(folder.path, "pebble"), httpPort: started.httpPort });
  const ca = createLocalCa({ folder: join(folder.path, "ca"), domain: "localhost" });
  const { certPem, keyPem } = await ca.issue(["localhost"]);
  caFile = await ca.certificateFile();
  // Pebble makes its addresses from the Host field, so that everything comes through here.
  proxy = createServer({ cert: certPem, key: keyPem }, (incoming, response) => void relay(incoming, response));
  proxyPort = await findFreePort();
  proxy.listen(proxyPort, "127.0.0.1");
  await once(proxy, "listening");
});

after(async () => {
  proxy?.closeAllConnections();
  proxy?.close();
  await pebble?.stop();
  await ingress?.stop();
  await agent.destroy();
  folder.close();
});

async function relay(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
  }
  const path = incoming.url ?? "";
  const counts = incoming.method === "POST";
  if (counts) {
    onRequest("before", path);
  }
  const reply = await request(`https://localhost:${pebble.port}${path}`, {
    method: (incoming.method ?? "GET") as "GET",
    headers: { "content-type": incoming.headers["content-type"] ?? "", host: `localhost:${proxyPort}` },
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    dispatcher: agent,
  });
  const body = await reply.body.text();
  if (counts) {
    onRequest("after", path);
  }
  response.writeHead(reply.statusCode, reply.headers as Record<string, string>).end(body);
}

interface Outcome {
  readonly killed: boolean;
  readonly paths: readonly string[];
}

/** Runs once; kills it before or after its signed request of that number, counted from 1. */
async function run(
  folderName: string,
  kill?: { readonly when: "before" | "after"; readonly number: number },
): Promise<Outcome> {
  const provided: RunnerSettings = {
    settings: { issuer: "acme", directoryUrl: `https://localhost:${proxyPort}/dir`, caFile },
    folder: folderName,
    challengeFolder,
    wishes: [{ name: HOST, hosts: [HOST] }],
  };
  const child = spawn(process.execPath, [join(import.meta.dirname, "runner.ts"), JSON.stringify(provided)], {
    stdio: "inherit",
  });
  const paths: string[] = [];
  onRequest = (when, path) => {
    if (when === "before") {
      paths.push(path);
    }
    if (kill?.when === when && kill.number === paths.length) {
      child.kill("SIGKILL");
    }
  };
  await once(child, "exit");
  return { killed: child.signalCode === "SIGKILL", paths };
}

test("a kill at any step loses nothing and costs no second certificate", { skip }, async () => {
  const clean = await run(join(folder.path, "clean"));
  assert.ok(parseCertificate(readFileSync(certificateFile(join(folder.path, "clean"), HOST), "utf8")));
  let kills = 0;
  for (let number = 1; number <= clean.paths.length; number += 1) {
    for (const when of ["before", "after"] as const) {
      const state = join(folder.path, `${when}-${number}`);
      const { killed } = await run(state, { when, number });
      const next = await run(state);
      const pem = readFileSync(certificateFile(state, HOST), "utf8");
      const where = `killed ${when} request ${number} (${clean.paths[number - 1]})`;
      assert.ok(parseCertificate(pem), where);
      assert.equal(new X509Certificate(pem).subjectAltName, `DNS:${HOST}`);
      const finished = [...next.paths].filter((path) => path.includes("finalize"));
      assert.ok(finished.length <= 1, where);
      assert.deepEqual(readdirSync(challengeFolder), [], where);
      const record = readAcmeState(state);
      assert.equal(record.certificates[HOST]?.pending, undefined, where);
      // The order that the server never named is the only one that may be made twice.
      assert.ok(record.orders.length <= 2, where);
      assert.equal(record.certificates[HOST]?.issued.length, 1, where);
      kills += killed ? 1 : 0;
    }
  }
  // How often the state of an order is read differs by the time that the authority takes.
  assert.ok(kills > clean.paths.length, "most runs were killed");
});
