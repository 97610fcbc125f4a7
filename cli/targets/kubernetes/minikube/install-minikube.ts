import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { fetch } from "undici";

import { KubernetesError } from "../kubernetes-error.ts";

interface InstallOptions {
  readonly version: string;
  readonly folder: string;
  /** Where releases are published. */
  readonly releases?: string;
}

const RELEASES = "https://storage.googleapis.com/minikube/releases";
/** Milliseconds for the whole program, a hundred megabytes. */
const TIMEOUT = 600_000;

/**
 * Fetches the program of a version and puts it into the folder, once its digest is the published one.
 * @throws {KubernetesError} saying how to install it by hand
 */
export async function installMinikube({ version, folder, releases = RELEASES }: InstallOptions): Promise<void> {
  const machine = process.arch === "x64" ? "amd64" : process.arch;
  const url = `${releases}/${version.startsWith("v") ? version : `v${version}`}/minikube-linux-${machine}`;
  const [program, digest] = await Promise.all([download(url), download(`${url}.sha256`)]);
  const found = createHash("sha256").update(program).digest("hex");
  if (found !== digest.toString("utf8").trim().split(/\s/)[0]) {
    throw new KubernetesError(`${url} is not what its published digest says; nothing was installed`);
  }
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  const unfinished = join(folder, `minikube.${process.pid}`);
  writeFileSync(unfinished, program);
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, join(folder, "minikube"));
}

async function download(url: string): Promise<Buffer> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
    if (!response.ok) {
      throw new Error(`status ${response.status}`);
    }
    return Buffer.from(await response.arrayBuffer());
  } catch (cause) {
    throw new KubernetesError(
      `minikube could not be fetched from ${url}: ${(cause as Error).message}. Install it by hand (https://minikube.sigs.k8s.io), or use another LOCALCLUSTER_TOOL`,
      { cause },
    );
  }
}
