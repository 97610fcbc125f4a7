import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { dropClientClaims } from "./client-claims.ts";

const server = createServer((incoming, response) => {
  response.end(JSON.stringify({ headers: incoming.headers, raw: incoming.rawHeaders }));
});
dropClientClaims(server, ["ades.example.org", "*.objstore.example.org", "catalogue.*.example.org"]);

before(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
after(() => new Promise((resolve) => server.close(resolve)));

function namesSeenBy(host: string, headers: Record<string, string>): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    request({ host: "127.0.0.1", port, headers: { host, ...headers }, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.on("end", () => {
        const seen = JSON.parse(body) as { headers: Record<string, string>; raw: string[] };
        const raw = seen.raw.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
        resolve([...new Set([...Object.keys(seen.headers), ...raw])].filter((name) => name.includes("auth")));
      });
    })
      .on("error", reject)
      .end();
  });
}

const claims = { "X-Auth-Username": "admin", X_AUTH_ROLES: "admin", "x.auth.email": "a@b", authorization: "Bearer x" };

test("a client cannot say who it is on an open host; its token passes", async () => {
  assert.deepEqual(await namesSeenBy("ades-open.example.org", claims), ["authorization"]);
  assert.deepEqual(await namesSeenBy("evil.ades.example.org", claims), ["authorization"]);
  assert.deepEqual(await namesSeenBy("a.b.objstore.example.org", claims), ["authorization"]);
  assert.deepEqual(await namesSeenBy("catalogue.a.b.example.org", claims), ["authorization"]);
  assert.deepEqual(await namesSeenBy("other.ws-eric.example.org", claims), ["authorization"]);
});

test("what the gatekeeper says on a protected host passes", async () => {
  for (const host of [
    "ades.example.org",
    "ADES.example.org:443",
    "bucket.objstore.example.org",
    "catalogue.ws-eric.example.org",
  ]) {
    assert.equal((await namesSeenBy(host, claims)).length, 4, host);
  }
});
