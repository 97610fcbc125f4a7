import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";

import { type RegistryClient, digestOf, imageOf } from "./client.ts";

export interface Expected {
  /** By repository and tag: the blobs of every manifest that was acknowledged and not asked to be deleted. */
  readonly kept: Map<string, readonly string[]>;
  /** Asked to be deleted; it may be gone or not. */
  readonly doubtful: Set<string>;
}

interface Work {
  readonly client: RegistryClient;
  /** That pushes go to; it exists. */
  readonly project: string;
  readonly worker: number;
  /** Of many images, so that deletions and pushes meet. */
  readonly shared: readonly Buffer[];
  /** Bytes of the layer that each image has for itself. */
  readonly bytes: number;
}

/** Pushes and deletes until the registry is gone. */
export async function pushUntilGone(
  { client, project, worker, shared, bytes }: Work,
  expected: Expected,
): Promise<void> {
  for (let turn = 0; ; turn++) {
    const repository = `${project}/r${(worker + turn) % 3}`;
    const key = `${repository} w${worker}-${Date.now()}-${turn}`;
    const tag = key.split(" ")[1] ?? "";
    const layers = [shared[turn % shared.length] as Buffer, randomBytes(bytes)];
    const config = Buffer.from(JSON.stringify({ key }));
    for (const blob of [config, ...layers]) {
      const digest = digestOf(blob);
      const exists = (await client.call("HEAD", `/v2/${repository}/blobs/${digest}`)).status === 200;
      const other = `${project}/r${(worker + turn + 1) % 3}`;
      const mount = exists
        ? undefined
        : await client.call("POST", `/v2/${repository}/blobs/uploads/?mount=${digest}&from=${other}`);
      if (mount?.status === 202) {
        const location = mount.headers.get("location") ?? "";
        const half = Math.floor(blob.length / 2);
        await client.call("PATCH", location, { body: blob.subarray(0, half) });
        const { status, body } = await client.call("PUT", `${location}?digest=${digest}`, {
          body: blob.subarray(half),
        });
        assert.equal(status, 201, body.toString());
      }
    }
    const { status, body } = await client.putManifest(repository, tag, imageOf(config, layers));
    // A push never fails because something is deleted meanwhile.
    assert.equal(status, 201, body.toString());
    expected.kept.set(key, [config, ...layers].map(digestOf));
    if (turn % 2 === 1) {
      const [victim] = expected.kept.keys();
      if (victim !== undefined) {
        expected.kept.delete(victim);
        expected.doubtful.add(victim);
        const [name, reference] = victim.split(" ");
        const digest = (await client.call("HEAD", `/v2/${name}/manifests/${reference}`)).headers.get(
          "docker-content-digest",
        );
        const deleted = await client.call("DELETE", `/v2/${name}/manifests/${digest}`);
        assert.ok([202, 404].includes(deleted.status), deleted.body.toString());
      }
    }
  }
}

/** The connection broke: the registry was killed. */
export function isGone(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("fetch failed");
}

/** Every image that was acknowledged is there, whole. */
export async function checkImages(client: RegistryClient, { kept }: Expected): Promise<void> {
  for (const [key, blobs] of kept) {
    const [name, tag] = key.split(" ");
    assert.equal((await client.call("GET", `/v2/${name}/manifests/${tag}`)).status, 200, key);
    for (const digest of blobs) {
      const { status, body } = await client.call("GET", `/v2/${name}/blobs/${digest}`);
      assert.deepEqual([status, digestOf(body)], [200, digest], `${key} ${digest}`);
    }
  }
}
