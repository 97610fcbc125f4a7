import { readFile } from "node:fs/promises";

import { Problem } from "@swath/service";
import { Agent } from "undici";

import type { Pod, PlatformStatus } from "./platform-status.ts";

interface KubernetesOptions {
  readonly host: string;
  readonly port: number;
  /** Value of the label that all objects of this deployment carry. */
  readonly deployment: string;
  /** Folder of the pod's own account: `token`, `ca.crt`. */
  readonly account?: string;
}

/** What is read of a pod of the Kubernetes API. */
interface KubernetesPod {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly creationTimestamp?: string;
    readonly deletionTimestamp?: string;
  };
  readonly status?: {
    readonly phase?: string;
    readonly message?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
    readonly containerStatuses?: readonly {
      readonly restartCount: number;
      readonly state?: { readonly waiting?: { readonly reason?: string; readonly message?: string } };
    }[];
  };
}

const LABEL = "swath.io/deployment";
/** Label of the namespaces that the deployment itself consists of. */
const NAMESPACE_LABEL = "swath.io/namespace";
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";
const MAX_BYTES = 4 * 1024 * 1024;

/** Asks the cluster's own API with the pod's account, for pods that carry the deployment's label and no others. */
export function createKubernetesStatus(options: KubernetesOptions): PlatformStatus {
  const { host, port, deployment, account = ACCOUNT } = options;
  let agent: Promise<Agent> | undefined;
  const origin = `https://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const send = async (path: string): Promise<{ status: number; text: string }> => {
    try {
      agent ??= readFile(`${account}/ca.crt`, "utf8").then((ca) => new Agent({ connect: { ca } }));
      // Read each time: Kubernetes replaces the token every hour.
      const token = (await readFile(`${account}/token`, "utf8")).trim();
      const { statusCode, body } = await (
        await agent
      ).request({
        origin,
        path,
        method: "GET",
        headers: { authorization: `Bearer ${token}`, accept: "*/*" },
        signal: AbortSignal.timeout(8000),
      });
      return { status: statusCode, text: await body.text() };
    } catch (cause) {
      throw new Problem(502, "The Kubernetes API does not answer.", { cause });
    }
  };
  const list = async <T>(path: string): Promise<readonly T[]> => {
    const { status, text } = await send(path);
    if (status !== 200) {
      throw new Problem(502, `The Kubernetes API responded ${status} to the portal's account.`);
    }
    return (JSON.parse(text) as { items: readonly T[] }).items;
  };
  const selector = encodeURIComponent(`${LABEL}=${deployment}`);
  return {
    listPods: async () => {
      // Those of workspaces carry the deployment's label as well; the portal's account has no rights in them.
      const namespaces = await list<{ readonly metadata: { readonly name: string } }>(
        `/api/v1/namespaces?labelSelector=${encodeURIComponent(`${LABEL}=${deployment},${NAMESPACE_LABEL}`)}`,
      );
      const pods = await Promise.all(
        namespaces.map(({ metadata: { name } }) =>
          list<KubernetesPod>(`/api/v1/namespaces/${encodeURIComponent(name)}/pods?labelSelector=${selector}`),
        ),
      );
      return pods.flat().map(toPod);
    },
    readLog: async (namespace, pod, lines) => {
      const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}`;
      const found = await send(path);
      // Other pods may run in the deployment's namespaces; its administrators are not administrators of those.
      const labels = found.status === 200 ? (JSON.parse(found.text) as KubernetesPod).metadata.labels : undefined;
      if (labels?.[LABEL] !== deployment) {
        return undefined;
      }
      const { status, text } = await send(`${path}/log?tailLines=${lines}&limitBytes=${MAX_BYTES}`);
      return status === 200 ? text : `(no log: the Kubernetes API answers ${status})\n`;
    },
    close: async () => {
      await (await agent)?.destroy();
    },
  };
}

function toPod({ metadata, status = {} }: KubernetesPod): Pod {
  const { name, namespace, labels = {}, creationTimestamp = "", deletionTimestamp } = metadata;
  const { phase = "Unknown", conditions = [], containerStatuses = [] } = status;
  const waiting = containerStatuses.find(({ state }) => state?.waiting !== undefined)?.state?.waiting;
  const unmet = conditions.find((condition) => condition.status === "False" && condition.message);
  const message = waiting?.message ?? status.message ?? unmet?.message;
  return {
    namespace,
    name,
    workload: labels["app.kubernetes.io/name"] ?? name,
    component: labels["app.kubernetes.io/component"] ?? "",
    phase: deletionTimestamp === undefined ? phaseOf(phase, waiting?.reason) : "Terminating",
    ready: conditions.some(({ type, status: value }) => type === "Ready" && value === "True"),
    restarts: containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
    createdAt: creationTimestamp,
    ...(message !== undefined && message !== "" && { message }),
  };
}

function phaseOf(phase: string, waiting: string | undefined): string {
  if (waiting === "CrashLoopBackOff" || waiting === "ImagePullBackOff") {
    return waiting;
  }
  return phase === "Succeeded" ? "Completed" : phase === "Failed" ? "Error" : phase;
}
