import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { Registry } from "prom-client";

import { measureRequests } from "./request-metrics.ts";

test("requests are counted by listener, method and class of status, unfinished ones as such", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/slow") {
      response.write("one");
      return;
    }
    response.writeHead(request.url === "/" ? 204 : 404).end();
  });
  const metrics = new Registry();
  measureRequests({ http: server }, metrics);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    await (await fetch(`${url}/`)).text();
    await (await fetch(`${url}/nothing`, { method: "DELETE" })).text();
    const closed = once(server, "request").then(([, response]) => once(response as NodeJS.EventEmitter, "close"));
    const abort = new AbortController();
    const slow = await fetch(`${url}/slow`, { signal: abort.signal });
    abort.abort();
    await assert.rejects(slow.text());
    await closed;
    const text = await metrics.metrics();
    assert.match(text, /http_request_seconds_count\{port="http",method="GET",status="2xx"\} 1\n/);
    assert.match(text, /http_request_seconds_count\{port="http",method="DELETE",status="4xx"\} 1\n/);
    assert.match(text, /http_request_seconds_count\{port="http",method="GET",status="aborted"\} 1\n/);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
