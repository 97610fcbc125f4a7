import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import {
  createAccount,
  createNamespace,
  createSharedFolder,
  mustKubectl,
  findKubernetesSkipReason,
} from "@swath/testing/kubernetes";
import { loadBusybox, findImagesSkipReason } from "@swath/testing/kubernetes-images";

import { TOOL_PODS_ROLE } from "../deployment.ts";
import type { Pod } from "../pod-types.ts";

export const REPOSITORY = join(import.meta.dirname, "../../../../..");
/** Static busybox. */
export const IMAGE = "localhost/swath-test-busybox:1";
/** Who the tests become: nobody runs tools as root. */
export const USER = 10_001;

export interface PodFixture {
  readonly namespace: string;
  readonly claim: string;
  /** Folder that tests and pods share. */
  readonly volume: string;
  /** Folder of an account that may do what the service may do, and no more. */
  readonly account: string;
  readonly server: string;
  readonly pods: () => Promise<readonly Pod[]>;
  readonly close: () => Promise<void>;
}

/** Why tests with pods cannot run here; `undefined` when they can. */
export async function findPodsSkipReason(): Promise<string | undefined> {
  const isRoot = process.getuid?.() === 0;
  return (
    (await findKubernetesSkipReason()) ??
    findImagesSkipReason(REPOSITORY) ??
    (isRoot ? undefined : "building images and giving a folder to another user needs root")
  );
}

/** A namespace with a volume, an account and an image for tools. */
export async function startPodFixture(): Promise<PodFixture> {
  await loadBusybox(REPOSITORY, IMAGE);
  const namespace = `kj-pods-${process.pid}`;
  const space = await createNamespace(namespace);
  const volume = await createSharedFolder(namespace, "ades");
  const folder = mkdtempSync(join(tmpdir(), "swath-account-"));
  chmodSync(folder, 0o755);
  const account = join(folder, "account");
  const server = await createAccount({ folder: account, namespace, name: "ades", ...TOOL_PODS_ROLE });
  mkdirSync(join(volume.folder, "jobs"));
  chmodSync(join(volume.folder, "jobs"), 0o777);
  return {
    namespace,
    claim: "ades",
    volume: volume.folder,
    account,
    server,
    pods: async () => {
      const text = await mustKubectl(["get", "pods", "-n", namespace, "-o", "json"]);
      return (JSON.parse(text) as { items: readonly Pod[] }).items;
    },
    close: async () => {
      await space.close();
      await volume.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
