import assert from "node:assert/strict";
import { type AddressInfo, connect } from "node:net";
import { type Server, createServer, request } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, test } from "node:test";

import { createEgressServer } from "./egress.ts";
import { createPlatformWay } from "./platform.ts";

const ingress = createServer((message, response) => response.end(`ingress ${message.headers.host} ${message.url}`));
let proxies: { readonly platform: Server; readonly internet: Server };
let port: number;

before(async () => {
  await new Promise<void>((resolve) => ingress.listen(0, "127.0.0.1", resolve));
  port = (ingress.address() as AddressInfo).port;
  const way = createPlatformWay("swath.localhost", `http://hub.swath.localhost:${port}`);
  proxies = { platform: createEgressServer("platform", way), internet: createEgressServer("internet", way) };
  for (const proxy of Object.values(proxies)) {
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  }
});
after(() => {
  for (const server of [ingress, ...Object.values(proxies)]) {
    server.close();
    server.closeAllConnections();
  }
});

async function send(proxy: Server, url: string): Promise<readonly [number, string]> {
  return new Promise((resolve, reject) => {
    request(
      {
        host: "127.0.0.1",
        port: (proxy.address() as AddressInfo).port,
        path: url,
        headers: { host: new URL(url).host },
      },
      (response) => {
        text(response).then((body) => resolve([response.statusCode ?? 0, body]), reject);
      },
    )
      .on("error", reject)
      .end();
  });
}

async function tunnel(proxy: Server, target: string): Promise<string> {
  const socket = connect((proxy.address() as AddressInfo).port, "127.0.0.1");
  socket.write(
    `CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\nGET /in HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  );
  return text(socket).catch(() => "");
}

test("the platform's hosts are reached at its public port", async () => {
  for (const proxy of Object.values(proxies)) {
    assert.deepEqual(await send(proxy, `http://ades.swath.localhost:${port}/x?y`), [
      200,
      `ingress ades.swath.localhost:${port} /x?y`,
    ]);
    assert.match(await tunnel(proxy, `ades.swath.localhost:${port}`), /200 Connection.*ingress x \/in/s);
    assert.equal((await send(proxy, `http://ades.swath.localhost:${port + 1}/`))[0], 403);
  }
});

test("this machine and private networks are not, by whatever name", async () => {
  for (const proxy of Object.values(proxies)) {
    for (const host of [
      "127.0.0.1",
      "localhost",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "0.0.0.0",
      "169.254.169.254",
      "10.0.0.1",
      "2130706433",
      "a.localhost",
      "swath.localhost.evil.example",
    ]) {
      const [status] = await send(proxy, `http://${host}:${port}/`);
      assert.ok([403, 502].includes(status), `${host}: ${status}`);
      assert.doesNotMatch(await tunnel(proxy, `${host}:${port}`), /^HTTP\/1\.1 200/, host);
    }
  }
});

test("a profile without the internet reaches nothing else", async () => {
  const [status, why] = await send(proxies.platform, "http://example.org/");
  assert.equal(status, 403);
  assert.match(why, /egress: platform/);
});
