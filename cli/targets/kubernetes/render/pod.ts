import { hashOf, type Container, type JsonValue, type KubernetesObject, type PodTemplate } from "@swath/kubernetes";
import type { Workload } from "@swath/manifest";
import type { RenderInput } from "./render-input.ts";
import { managementPort, renderEnvironment } from "./environment.ts";
import { commonLabels, keys, selectorOf } from "./labels.ts";
import { renderPlacement } from "./placement.ts";
import { usesKubernetesApi } from "./rights.ts";
import { seal } from "./seal.ts";

/** The image's account: neither root nor any user of the machine. */
const userId = 10_001;

/** What the restricted pod security standard asks of a pod, and of each container. */
export const podSecurity = {
  runAsNonRoot: true,
  runAsUser: userId,
  runAsGroup: userId,
  fsGroup: userId,
  // Changing the owner of every file of a large volume would take minutes at each start.
  fsGroupChangePolicy: "OnRootMismatch",
  seccompProfile: { type: "RuntimeDefault" },
} as const;
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ["ALL"] },
  readOnlyRootFilesystem: true,
} as const;

/** The pod of a workload under the restricted pod security standard. `configs` are the Secrets and ConfigMaps of its namespace. */
export function renderPod(plan: RenderInput, workload: Workload, configs: readonly KubernetesObject[]): PodTemplate {
  const { env } = renderEnvironment(plan, workload);
  const { variables } = plan.settings;
  const mounts = workload.mounts ?? [];
  const isService = workload.kind === "service";
  const container: Container = {
    name: workload.name,
    image: workload.image ?? (workload.component === "ades" ? variables.PROCESSING_ZOO_IMAGE : variables.SWATH_IMAGE),
    imagePullPolicy: "IfNotPresent",
    command: ["swath", "serve", workload.component, workload.entry ?? "main"],
    env,
    ...(isService ? { ports: containerPorts(workload), ...probes(workload) } : {}),
    ...(workload.stopSignal === "SIGINT" ? { lifecycle: interruptFirst } : {}),
    volumeMounts: [
      { name: "tmp", mountPath: "/tmp" },
      ...mounts.map(({ volume, path }) => ({ name: `data-${volume}`, mountPath: path })),
    ],
    resources: { ...workload.resources },
    securityContext: containerSecurity,
  };
  return {
    metadata: {
      labels: {
        ...commonLabels(plan.settings),
        ...selectorOf(workload.name),
        "app.kubernetes.io/component": workload.component,
      },
      annotations: {
        [keys.configHash]: hashConfig(plan, referredObjects(env, configs)),
        ...(workload.keepImageOf !== undefined && { [keys.keepImageOf]: workload.keepImageOf }),
      },
    },
    spec: {
      containers: [container],
      volumes: [
        { name: "tmp", emptyDir: {} },
        ...mounts.map(({ volume }) => ({ name: `data-${volume}`, persistentVolumeClaim: { claimName: volume } })),
      ],
      ...(usesKubernetesApi(workload) ? { serviceAccountName: workload.name } : {}),
      automountServiceAccountToken: usesKubernetesApi(workload),
      enableServiceLinks: false,
      ...renderPlacement(plan.settings, workload),
      ...(isService ? {} : { restartPolicy: "OnFailure" as const }),
      terminationGracePeriodSeconds: workload.stopSeconds ?? 30,
      securityContext: podSecurity,
    },
  };
}

/** A cluster always sends SIGTERM; the signal the program wants comes before it. */
const interruptFirst: JsonValue = { preStop: { exec: { command: ["/bin/sh", "-c", "kill -INT 1"] } } };

function containerPorts({ ports = [], probe }: Workload): NonNullable<Container["ports"]> {
  const own = ports.map(({ name, number }) => ({ name, containerPort: number }));
  return probe === "postgres" ? own : [...own, { name: "management", containerPort: managementPort }];
}

function probes({ probe }: Workload): Pick<Container, "readinessProbe" | "livenessProbe" | "startupProbe"> {
  // Recovery of a database or a first migration may take minutes; only then is silence a fault.
  const patient = { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 300 };
  if (probe === "postgres") {
    const takesQueries = { exec: { command: ["swath", "probe", "postgres"] } };
    return {
      startupProbe: { ...takesQueries, ...patient },
      readinessProbe: { ...takesQueries, periodSeconds: 10, timeoutSeconds: 5 },
      livenessProbe: { tcpSocket: { port: "postgres" }, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
    };
  }
  const alive = { httpGet: { path: "/healthz", port: "management" } };
  const ready = { httpGet: { path: "/readyz", port: "management" } };
  return {
    startupProbe: { ...alive, ...patient },
    readinessProbe: { ...ready, periodSeconds: 1, timeoutSeconds: 3, failureThreshold: 6 },
    livenessProbe: { ...alive, periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 6 },
  };
}

function hashConfig({ settings }: RenderInput, objects: readonly KubernetesObject[]): string {
  const hash = hashOf(objects);
  const holdsSecrets = objects.some((object) => object.kind === "Secret" && object["data"] !== undefined);
  return holdsSecrets ? seal(settings.clusterName, hash) : hash;
}

function referredObjects(env: Container["env"], configs: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const names = new Set(
    (env ?? []).flatMap(({ valueFrom }) => {
      if (valueFrom === undefined) {
        return [];
      }
      return "secretKeyRef" in valueFrom
        ? [`Secret/${valueFrom.secretKeyRef.name}`]
        : [`ConfigMap/${valueFrom.configMapKeyRef.name}`];
    }),
  );
  return configs.filter(({ kind, metadata }) => names.has(`${kind}/${metadata.name}`));
}
