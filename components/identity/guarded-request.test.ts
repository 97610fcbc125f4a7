import assert from "node:assert/strict";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { createAddressGuard } from "@swath/addresses";

import { createDelegateClient } from "./variant-b/pdp/delegate.ts";
import { requestGuarded } from "./guarded-request.ts";
import { createClientAddresses } from "./protocol/client-addresses.ts";

const seen: { method: string | undefined; url: string | undefined; body: string; type: string | undefined }[] = [];
let server: Server;
let port: number;

before(async () => {
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, body, type: request.headers["content-type"] });
      switch (request.url) {
        case "/redirect":
          response.writeHead(302, { location: "/elsewhere" }).end();
          break;
        case "/long":
          response.end("x".repeat(65_537));
          break;
        case "/slow":
          break;
        default:
          response.end('{"Response":[{"Decision":"Permit"}]}');
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
});

after(() => {
  server.closeAllConnections();
  server.close();
});

const refuse = (where: string, address: string) => new Error(`${where} leads to ${address}, which is not public`);
const closed = createAddressGuard({ allowPrivate: [], refuse });
const open = createAddressGuard({ allowPrivate: ["127.0.0.1", "localhost"], refuse });
const address = (path = "/") => new URL(`http://127.0.0.1:${port}${path}`);

const PRIVATE = [
  "http://127.0.0.1/",
  "http://[::1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://169.254.169.254/latest/meta-data",
  "http://10.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0.0.0.0/",
  "http://localhost/",
];

for (const url of PRIVATE) {
  test(`is not connected to: ${url}`, async () => {
    await assert.rejects(
      requestGuarded(new URL(url), { guard: closed, headers: {}, timeoutMs: 2000 }),
      /which is not public/,
    );
  });
}

for (const url of ["file:///etc/passwd", "ftp://127.0.0.1/", "data:text/plain,x"]) {
  test(`is no address to ask: ${url}`, async () => {
    await assert.rejects(
      requestGuarded(new URL(url), { guard: open, headers: {}, timeoutMs: 2000 }),
      /neither an https nor an http address/,
    );
  });
}

test("a redirect is not followed, a long response is refused, a slow one is given up", async () => {
  const send = (path: string, timeoutMs = 30_000) =>
    requestGuarded(address(path), { guard: open, headers: {}, timeoutMs });
  seen.length = 0;
  assert.equal((await send("/redirect")).status, 302);
  assert.deepEqual(
    seen.map(({ url }) => url),
    ["/redirect"],
  );
  await assert.rejects(send("/long"), /longer than 65536 bytes/);
  await assert.rejects(send("/slow", 300), { name: /AbortError|TimeoutError/ });
});

test("clients' addresses: a form is a POST, hosts of the deployment need not be public, others do", async () => {
  const publicUrl = address().origin;
  const addresses = createClientAddresses({ allowPrivate: [], publicUrl, domain: "0.0.1" });
  seen.length = 0;
  assert.equal((await addresses.send(`${publicUrl}/x`, { form: { a: "b c" } })).status, 200);
  assert.deepEqual(seen, [{ method: "POST", url: "/x", body: "a=b+c", type: "application/x-www-form-urlencoded" }]);
  await assert.rejects(addresses.send(`http://127.1.1.1:${port}/`), /CLIENT_ALLOW_PRIVATE can allow it/);
  // Another port or scheme of the same host is not the deployment's.
  await assert.rejects(addresses.send(`http://127.0.0.1:${port + 1}/`), /CLIENT_ALLOW_PRIVATE can allow it/);
  await assert.rejects(addresses.send(`https://127.0.0.1:${port}/`), /CLIENT_ALLOW_PRIVATE can allow it/);
});

test("decision points: only what is public or allowed is asked", async () => {
  seen.length = 0;
  await assert.rejects(createDelegateClient([]).send(address().href, {}, 1), /DECISION_ALLOW_PRIVATE can allow it/);
  assert.deepEqual(seen, []);
  assert.equal(await createDelegateClient(["127.0.0.1"]).send(address("/pdp").href, { Request: {} }, 1), true);
  assert.deepEqual(seen, [{ method: "POST", url: "/pdp", body: '{"Request":{}}', type: "application/json" }]);
});

test("a host of the deployment below localhost is this machine, whatever the resolver knows", async () => {
  const url = new URL(`http://console.swath.localhost:${port}/`);
  assert.equal((await requestGuarded(url, { guard: undefined, headers: {}, timeoutMs: 2000 })).status, 200);
});
