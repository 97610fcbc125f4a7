import { setTimeout as sleep } from "node:timers/promises";

import { WORKSPACE_LABEL } from "@swath/kubernetes";
import { type ClusterApi, ClusterApiError } from "@swath/kubernetes/api";
import type { Logger } from "@swath/service";

import { type Namespace, findRefusal } from "./find-refusal.ts";

/** A ClusterRole that an account gets in every namespace of a workspace. */
export interface WorkspaceRole {
  readonly role: string;
  readonly account: string;
  readonly accountNamespace: string;
}

interface BinderOptions {
  readonly api: Pick<ClusterApi, "get" | "apply" | "watch">;
  readonly logger: Logger;
  readonly deployment: string;
  readonly roles: readonly WorkspaceRole[];
  readonly relistMs?: number;
}

export interface Binder {
  /** @throws {Error} until every namespace has been seen once */
  readonly checkReady: () => void;
  readonly stop: () => Promise<void>;
}

interface RoleBinding {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly roleRef: unknown;
  readonly subjects?: unknown;
}

interface List<T> {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly T[];
}

const GROUP = "rbac.authorization.k8s.io";
const MANAGER = "namespace-binder";
const MANAGED = { "app.kubernetes.io/managed-by": "swath-namespace-binder" };
const RETRY_MS = 2000;
/** A RoleBinding that was removed by hand is back after this time: only namespaces are watched. */
const RELIST_MS = 60_000;

/**
 * Binds the accounts of other services to their roles in the namespaces of workspaces, and nowhere else. Those services may make namespaces
 * and label none that exists, so that none of them gets a right in a namespace of others, on any version of Kubernetes.
 */
export function startBinder({ api, logger, deployment, roles, relistMs = RELIST_MS }: BinderOptions): Binder {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isReady = false;

  const told = new Set<string>();

  const bind = async (namespace: Namespace, existing: Map<string, RoleBinding>) => {
    const { name } = namespace.metadata;
    if (namespace.status?.phase === "Terminating") {
      return;
    }
    const refusal = findRefusal(namespace, deployment);
    if (refusal !== undefined) {
      if (!told.has(`${name} ${refusal}`)) {
        told.add(`${name} ${refusal}`);
        logger.warn({ namespace: name, reason: refusal }, "gave no rights in a namespace");
      }
      return;
    }
    for (const role of roles) {
      const wanted = createRoleBinding(name, role);
      const key = `${name}/${role.account}`;
      const found = existing.get(key);
      if ((found === undefined || !isSame(found, wanted)) && (await apply(wanted, name))) {
        existing.set(key, wanted);
      }
    }
  };
  const apply = async (wanted: RoleBinding, namespace: string): Promise<boolean> => {
    try {
      await api.apply(
        `/apis/${GROUP}/v1/namespaces/${namespace}/rolebindings/${wanted.metadata.name}`,
        wanted,
        MANAGER,
      );
      logger.info({ namespace, account: wanted.metadata.name }, "gave an account its rights in a namespace");
      return true;
    } catch (error) {
      // One namespace that is being removed, or has another RoleBinding of this name, does not hold up the others.
      if (!(error instanceof ClusterApiError) || error.status >= 500) {
        throw error;
      }
      logger.warn({ namespace, account: wanted.metadata.name, err: error }, "gave an account no rights; retrying");
      return false;
    }
  };
  const follow = async () => {
    const labelSelector = `${WORKSPACE_LABEL},swath.io/deployment=${deployment}`;
    const namespaces = await listAll<Namespace>(api, "/api/v1/namespaces", labelSelector);
    const managed = Object.entries(MANAGED).map((pair) => pair.join("="));
    const bindings = await listAll<RoleBinding>(api, `/apis/${GROUP}/v1/rolebindings`, managed.join(","));
    const existing = new Map(bindings.items.map((each) => [`${each.metadata.namespace}/${each.metadata.name}`, each]));
    for (const namespace of namespaces.items) {
      await bind(namespace, existing);
    }
    isReady = true;
    const { resourceVersion } = namespaces.metadata;
    const until = AbortSignal.any([signal, AbortSignal.timeout(relistMs)]);
    try {
      for await (const { type, object } of api.watch<Namespace>(
        "/api/v1/namespaces",
        { labelSelector, resourceVersion },
        until,
      )) {
        if (type === "DELETED") {
          // One of the same name that is made again has none of its RoleBindings.
          roles.forEach(({ account }) => existing.delete(`${object.metadata.name}/${account}`));
        } else if (type !== "BOOKMARK") {
          await bind(object, existing);
        }
      }
    } catch (error) {
      if (!until.aborted) {
        throw error;
      }
    }
  };
  const running = (async () => {
    while (!signal.aborted) {
      try {
        await follow();
      } catch (error) {
        if (!signal.aborted) {
          logger.warn({ err: error }, "lost the namespaces of workspaces; retrying");
          await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
        }
      }
    }
  })();
  return {
    checkReady: () => {
      if (!isReady) {
        throw new Error("the namespaces of workspaces have not been listed yet");
      }
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

async function listAll<T>(api: BinderOptions["api"], path: string, labelSelector: string): Promise<List<T>> {
  const list = await api.get<List<T>>(path, { labelSelector });
  if (list === undefined) {
    throw new Error(`the Kubernetes API has no ${path}`);
  }
  return list;
}

function createRoleBinding(
  namespace: string,
  { role, account, accountNamespace }: WorkspaceRole,
): RoleBinding & { readonly apiVersion: string; readonly kind: "RoleBinding" } {
  return {
    apiVersion: `${GROUP}/v1`,
    kind: "RoleBinding",
    metadata: { name: account, namespace, labels: { "app.kubernetes.io/part-of": "swath", ...MANAGED } },
    roleRef: { apiGroup: GROUP, kind: "ClusterRole", name: role },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: accountNamespace }],
  };
}

const isSame = (found: RoleBinding, wanted: RoleBinding): boolean =>
  JSON.stringify([found.roleRef, found.subjects]) === JSON.stringify([wanted.roleRef, wanted.subjects]);
