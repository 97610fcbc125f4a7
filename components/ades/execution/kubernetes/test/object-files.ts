import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { ClusterApi } from "@swath/kubernetes/api";
import { createLogger } from "@swath/service";
import { mustKubectl } from "@swath/testing/kubernetes";

import { createAgentServer } from "../../../blob-agent/agent-server.ts";
import { BlobCache } from "../../../blob-agent/blob-cache.ts";
import { EndedTools } from "../../../blob-agent/ended-tools.ts";
import { createBlobStore } from "../../../step-files/blob-store.ts";
import { createStepFiles } from "../../../step-files/step-files.ts";
import { startObjstore } from "../../../staging/test/servers.ts";
import type { S3Endpoint } from "../../../staging/types.ts";
import type { FileTransfer } from "../pod-spec.ts";

/** Image of the platform that the cluster has, for the containers beside tools. */
// oxlint-disable-next-line node/no-process-env -- as the tests of deployments find it
const image = process.env["SWATH_IMAGE"];

/** Why files cannot go through an object storage here; `undefined` when they can. */
export const findObjectFilesSkipReason = (): string | undefined =>
  image === undefined ? "SWATH_IMAGE names no image of the platform that the cluster has" : undefined;

/** How a program of a test finds them. */
export interface ObjectFiles {
  readonly endpoint: S3Endpoint;
  readonly agentUrl: string;
  readonly image: string;
}

const BUCKET = "steps";
const KEY = "key-of-the-tests";

/** How files of one job go through an object storage and a blob agent. */
export function openObjectFiles({ endpoint, agentUrl, image: helper }: ObjectFiles, api: ClusterApi, job: string) {
  const store = createBlobStore({ ...endpoint, bucket: BUCKET }, { connections: 16, stallSeconds: 60 });
  const transfer: FileTransfer = {
    files: createStepFiles({ store, api, job, key: KEY, maxBytes: 2 ** 32 }),
    image: helper,
    agentUrl,
    job,
    maxDiskMiB: 4096,
  };
  return { transfer, close: store.close };
}

/** An object storage and a blob agent on this machine. */
export async function startObjectFiles(
  api: ClusterApi,
): Promise<{ readonly files: ObjectFiles; readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "swath-agent-"));
  const objstore = await startObjstore();
  const store = createBlobStore({ ...objstore.endpoint, bucket: BUCKET }, { connections: 16, stallSeconds: 60 });
  const cache = new BlobCache(join(folder, "cache"), 2 ** 30, store, { onFetch: () => {}, onHit: () => {} });
  await cache.open();
  // The tests become another user.
  chmodSync(folder, 0o777);
  chmodSync(join(folder, "cache"), 0o777);
  const logger = createLogger("agent", "warn");
  // No node of the cluster: the agent asks for each pod.
  const tools = new EndedTools(api, "none", logger);
  const agent = createAgentServer({ store, cache, tools, secrets: [KEY], logger, onStored: () => {} });
  // Pods reach the address at which the API server is, and so what else is there.
  const host = await mustKubectl(["get", "endpoints", "kubernetes", "-o", "jsonpath={.subsets[0].addresses[0].ip}"]);
  await new Promise<void>((resolve) => agent.listen(0, host, resolve));
  const { address, port } = agent.address() as AddressInfo;
  return {
    files: { endpoint: objstore.endpoint, agentUrl: `http://${address}:${port}`, image: image ?? "" },
    close: async () => {
      tools.stop();
      agent.closeAllConnections();
      agent.close();
      await store.close();
      await objstore.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
