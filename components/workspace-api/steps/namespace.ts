import { WORKSPACE_LABEL } from "@swath/kubernetes";
import { type ClusterApi, ClusterApiError, retryWhileForbidden } from "@swath/kubernetes/api";
import { setTimeout as sleep } from "node:timers/promises";

import {
  type BucketSecret,
  type NamespaceLimits,
  type NamespaceWish,
  type RequestedObject,
  createContents,
  createNamespace,
  isAsWanted,
  namespacePath,
} from "./namespace-objects.ts";
import type { Step } from "./step.ts";

interface NamespaceStepOptions {
  readonly api: ClusterApi;
  readonly deployment: string;
  readonly limits: NamespaceLimits;
  readonly defaultQuotaMb: number;
  /** The storage credentials of a workspace, once there are some. */
  readonly findBucket: (workspace: string) => Promise<BucketSecret | undefined>;
}

interface Namespace {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: { readonly phase?: string };
}

/** By this name the API server knows whose fields are whose. */
const MANAGER = "workspace-reconciler";
/** Milliseconds that a namespace may take to end before the removal is tried again later. */
const TIMEOUT = 60_000;

/**
 * A namespace of the workspace's name on the cluster that the platform runs in: a quota, limits for pods that name none, the
 * storage credentials as the Secret `bucket`, and a network that only the workspace itself and the ingress reach.
 */
export function createNamespaceStep(options: NamespaceStepOptions): Step {
  const { api, findBucket, ...rest } = options;
  return {
    name: "namespace",
    title: "Namespace",
    apply: async ({ workspace, wasDone }) => {
      const { name } = workspace;
      const bucket = await findBucket(name);
      const wish = { ...rest, workspace, ...(bucket && { bucket }) };
      const existing = await api.get<Namespace>(namespacePath(name));
      const namespace = createNamespace(wish);
      if (existing === undefined) {
        // Where there is none yet, nothing may be changed.
        await api.create("/api/v1/namespaces", namespace.object);
      } else {
        checkOwn(existing, wish);
      }
      const repaired: string[] =
        existing === undefined && wasDone
          ? [`${namespace.title} of workspace ${name} was gone; it was made again`]
          : [];
      for (const requested of [namespace, ...createContents(wish)]) {
        const change = await retryWhileForbidden(() => ensure(api, requested));
        // What the workspace asks for anew differs too; that is no repair.
        if (change !== undefined && wasDone && workspace.generation === workspace.observedGeneration) {
          repaired.push(`${requested.title} of workspace ${name} ${change}`);
        }
      }
      return repaired;
    },
    remove: async ({ workspace: { name } }) => {
      const existing = await api.get<Namespace>(namespacePath(name));
      // Somebody else's is not ours to remove.
      if (existing?.metadata.labels?.[WORKSPACE_LABEL] !== name) {
        return;
      }
      await api.remove(namespacePath(name), { propagationPolicy: "Background" }).catch(ignoreConflict);
      for (const until = Date.now() + TIMEOUT; (await api.get(namespacePath(name))) !== undefined; await sleep(500)) {
        if (Date.now() > until) {
          throw new Error(`the namespace ${name} is being removed, which takes long; something in it does not end`);
        }
      }
    },
  };
}

function checkOwn({ metadata, status }: Namespace, wish: NamespaceWish): void {
  const { name } = wish.workspace;
  if (metadata.labels?.[WORKSPACE_LABEL] !== name) {
    const labels = `${WORKSPACE_LABEL}=${name} swath.io/deployment=${wish.deployment} pod-security.kubernetes.io/enforce=restricted`;
    throw new Error(
      `a namespace ${name} exists on the cluster and does not belong to a workspace; remove it, give it to the workspace (kubectl label namespace ${name} --overwrite ${labels}), or give the workspace another name`,
    );
  }
  if (status?.phase === "Terminating") {
    throw new Error(`the namespace ${name} of an earlier workspace is still being removed`);
  }
}

/** Brings an object to what is wanted; says what was wrong with it. */
async function ensure(api: ClusterApi, { path, object }: RequestedObject): Promise<string | undefined> {
  const actual = await api.get<object>(path);
  if (isAsWanted(actual, object)) {
    return undefined;
  }
  await api.apply(path, object, MANAGER);
  return actual === undefined ? "was gone; it was made again" : "had been changed; it was set right";
}

/** A namespace that is ending already. */
function ignoreConflict(error: unknown): void {
  if (!(error instanceof ClusterApiError && error.status === 409)) {
    throw error;
  }
}
