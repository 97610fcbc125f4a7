import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import type * as KubernetesClient from "@kubernetes/client-node";

import { repositoryRoot } from "../../embedded/launch/code-version.ts";
import { type Lock, installClient } from "./install-client.ts";

const CLIENT = "@kubernetes/client-node";

type Client = typeof KubernetesClient;

let loaded: Promise<Client> | undefined;

/**
 * The client library of Kubernetes. Installations for use are made without it: it is fetched when a cluster is first used, and again
 * when its version in the lock file changed. Development tools bring it along.
 * @throws {KubernetesError} when it cannot be installed
 */
export function loadClient(): Promise<Client> {
  loaded ??= findOrInstall();
  return loaded;
}

async function findOrInstall(): Promise<Client> {
  if (!isInstalled(repositoryRoot, import.meta.dirname)) {
    await installClient(
      { root: repositoryRoot, folder: import.meta.dirname, name: CLIENT, megabytes: 5 },
      (line: string) => process.stderr.write(`${line}\n`),
    );
  }
  return import("@kubernetes/client-node");
}

/** Whether Node.js finds the versions of the lock file from a folder on. */
export function isInstalled(root: string, folder: string): boolean {
  const own = join(folder, "node_modules/.package-lock.json");
  if (!existsSync(own)) {
    return existsSync(join(root, "node_modules", CLIENT, "package.json"));
  }
  const [found, wanted] = [own, join(root, "package-lock.json")].map(
    (file) => (JSON.parse(readFileSync(file, "utf8")) as Lock).packages,
  );
  return Object.entries(found ?? {}).every(([path, { version }]) => wanted?.[path]?.version === version);
}
