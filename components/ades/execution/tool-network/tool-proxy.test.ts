import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, createServer, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { readNetworkRule } from "./network-rule.ts";
import { openToolProxy } from "./tool-proxy.ts";

const SETTINGS = {
  ALLOW_PRIVATE: "127.0.0.1",
  PLATFORM_DOMAIN: "swath.example",
  PUBLIC_URL: "https://ades.swath.example",
  OPEN_HOST: "ades-open.other.example",
};

test("requests and tunnels lead to where the rules allow, and nowhere else", async () => {
  const folder = mkdtempSync(join(tmpdir(), "proxy-"));
  const far = createServer((message, response) =>
    response.end(`${message.method} ${message.url} ${message.headers.host}`),
  );
  await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
  const { port } = far.address() as { port: number };
  const [free, strict] = [join(folder, "free"), join(folder, "strict")];
  // This test's own server stands for one of the internet: it is on this machine, so what is this machine is told to be nothing.
  const proxies = [await openToolProxy(free, SETTINGS, () => false), await openToolProxy(strict, SETTINGS)];
  try {
    const address = `http://127.0.0.1:${port}/a?b=c`;
    assert.deepEqual(await send(free, address), [200, `GET /a?b=c 127.0.0.1:${port}`]);
    assert.match(await tunnel(free, `127.0.0.1:${port}`), /^HTTP\/1\.1 200 .*GET \/inside /s);
    // The operator allowed the address, and it is this machine all the same.
    for (const host of ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "169.254.169.254"]) {
      const [status] = await send(strict, `http://${host}:${port}/`);
      assert.ok([403, 502].includes(status), `${host}: ${status}`);
      assert.doesNotMatch(await tunnel(strict, `${host}:${port}`), /^HTTP\/1\.1 200/);
    }
    for (const host of ["ades-open.swath.example", "x.y.swath.example", "ades-open.other.example", "swath.example."]) {
      assert.deepEqual((await send(free, `http://${host}/`))[0], 403, host);
    }
    assert.equal((await send(free, "http://10.0.0.1/"))[0], 403);
  } finally {
    await Promise.all(proxies.map(({ close }) => close()));
    far.close();
    rmSync(folder, { recursive: true });
  }
});

test("the operator's rule names users and their processes", () => {
  const rule = readNetworkRule({ TOOL_NETWORK: "eric, alice/download" });
  assert.deepEqual(
    [rule("eric", "x"), rule("alice", "download"), rule("alice", "x"), rule("bob", "download")],
    [true, true, false, false],
  );
  assert.equal(readNetworkRule({ TOOL_NETWORK: "none" })("none", "x"), false);
  assert.equal(readNetworkRule({ TOOL_NETWORK: "all" })("bob", "x"), true);
  assert.throws(() => readNetworkRule({ TOOL_NETWORK: "a/b/c" }), /"a\/b\/c"; allowed: none, all/);
});

async function send(socketPath: string, path: string): Promise<[number, string]> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, path, headers: { host: new URL(path).host } }, resolve)
      .on("error", reject)
      .end();
  });
  return [response.statusCode ?? 0, await text(response)];
}

async function tunnel(socketPath: string, target: string): Promise<string> {
  const socket = connect({ path: socketPath });
  socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  socket.write("GET /inside HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  return text(socket).catch(() => "");
}
