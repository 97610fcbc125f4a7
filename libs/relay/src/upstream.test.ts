import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { type RequestListener, createServer } from "node:http";
import type { AddressInfo, ListenOptions } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { type Upstream, createUpstreams } from "./upstream.ts";

const PATH = "/hub/api";

for (const hasForeignSockets of [false, true]) {
  test(`reaches a service at a port and at a socket, hasForeignSockets ${hasForeignSockets}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "swath-upstream-"));
    const path = join(folder, "app");
    const atPort = await listen({ host: "127.0.0.1", port: 0 });
    const atSocket = await listen({ path });
    const upstreams = createUpstreams({ hasForeignSockets });
    try {
      const { port } = atPort.address() as AddressInfo;
      for (const url of [`http://127.0.0.1:${port}`, `http+unix://${encodeURIComponent(path)}`]) {
        const upstream = upstreams.get(url);
        assert.equal(await ask(upstream, upstream.options.agent), PATH, url);
        assert.equal(await ask(upstream, upstream.openAgent()), PATH, `${url}, a connection of its own`);
      }
      symlinkSync(path, join(folder, "link"));
      const linked = upstreams.get(`http+unix://${encodeURIComponent(join(folder, "link"))}`);
      for (const agent of [linked.options.agent, linked.openAgent()]) {
        const reached = ask(linked, agent);
        await (hasForeignSockets ? assert.rejects(reached, { code: "ELOOP" }) : reached);
      }
    } finally {
      upstreams.close();
      for (const server of [atPort, atSocket]) {
        server.close();
        server.closeAllConnections();
      }
      rmSync(folder, { recursive: true });
    }
  });
}

const sayPath: RequestListener = ({ url }, response) => response.end(url);

async function listen(where: ListenOptions) {
  const server = createServer(sayPath).listen(where);
  await once(server, "listening");
  return server;
}

async function ask(
  { request, options, prefix }: Upstream,
  agent: Upstream["options"]["agent"] | false,
): Promise<string> {
  const outgoing = request({ ...options, agent, path: `${prefix}${PATH}` }).end();
  const [response] = await once(outgoing, "response");
  return text(response);
}
