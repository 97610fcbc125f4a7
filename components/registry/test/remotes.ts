import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { waitUntil } from "@swath/testing";

import { IMAGE, INDEX, type RegistryClient, digestOf, imageOf } from "./client.ts";

/** Tells a registry of another one, and gives the number that it has then. */
export async function addRegistry(
  admin: RegistryClient,
  name: string,
  url: string,
  credential?: object,
): Promise<number> {
  const { status, headers, body } = await admin.call("POST", "/api/v2.0/registries", {
    body: { name, url, ...(credential && { credential: { type: "basic", ...credential } }) },
  });
  assert.equal(status, 201, body.toString());
  return Number(headers.get("location")?.split("/").at(-1));
}

/** Pushes an index of two images, and gives what is in it. */
export async function pushIndex(client: RegistryClient, repository: string, tag: string) {
  const images = await Promise.all(
    ["amd64", "arm64"].map(async (architecture) => {
      const layer = randomBytes(50_000);
      const config = Buffer.from(JSON.stringify({ os: "linux", architecture, tag }));
      await client.pushBlob(repository, config);
      await client.pushBlob(repository, layer);
      const manifest = imageOf(config, [layer]);
      const digest = digestOf(JSON.stringify(manifest));
      assert.equal((await client.putManifest(repository, digest, manifest)).status, 201);
      const size = Buffer.byteLength(JSON.stringify(manifest));
      return { layer, descriptor: { mediaType: IMAGE, digest, size, platform: { os: "linux", architecture } } };
    }),
  );
  const index = { schemaVersion: 2, mediaType: INDEX, manifests: images.map(({ descriptor }) => descriptor) };
  assert.equal((await client.putManifest(repository, tag, index, INDEX)).status, 201);
  return { digest: digestOf(JSON.stringify(index)), images };
}

/** A client that pulls everything below a manifest. */
export async function pull(client: RegistryClient, repository: string, reference: string): Promise<string> {
  const { status, body, headers } = await client.call("GET", `/v2/${repository}/manifests/${reference}`);
  assert.equal(status, 200, body.toString());
  const {
    manifests = [],
    config,
    layers = [],
  } = JSON.parse(body.toString()) as {
    manifests?: { digest: string }[];
    config?: { digest: string };
    layers?: { digest: string }[];
  };
  for (const { digest } of manifests) {
    await pull(client, repository, digest);
  }
  for (const { digest } of [...(config ? [config] : []), ...layers]) {
    const blob = await client.call("GET", `/v2/${repository}/blobs/${digest}`);
    assert.deepEqual([blob.status, digestOf(blob.body)], [200, digest]);
  }
  return headers.get("docker-content-digest") ?? "";
}

/** Makes a replication and runs it. */
export async function replicate(
  admin: RegistryClient,
  policy: object,
): Promise<{ id: number; run: Record<string, unknown> }> {
  const made = await admin.call("POST", "/api/v2.0/replication/policies", { body: policy });
  assert.equal(made.status, 201, made.body.toString());
  const id = Number(made.headers.get("location")?.split("/").at(-1));
  return { id, run: await runAgain(admin, id) };
}

export async function runAgain(admin: RegistryClient, id: number): Promise<Record<string, unknown>> {
  const started = await admin.call("POST", "/api/v2.0/replication/executions", { body: { policy_id: id } });
  assert.equal(started.status, 201, started.body.toString());
  const path = started.headers.get("location") ?? "";
  await waitUntil("the run ends", async () => (await admin.call("GET", path)).json().end_time !== null);
  return (await admin.call("GET", path)).json() as Record<string, unknown>;
}

interface Asked {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly port: number;
}

/** A registry of which a test needs some answers that no real one gives on demand. */
export async function startStandIn(
  reply: (path: string, response: ServerResponse, asked: Asked) => boolean,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server: Server = createServer((message, response) => {
    const { port } = server.address() as AddressInfo;
    const headers = message.headers as Record<string, string | undefined>;
    if (!reply(message.url ?? "", response, { method: message.method ?? "", headers, port })) {
      response.writeHead(404);
      response.end("{}");
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
