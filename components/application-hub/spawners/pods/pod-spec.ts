import type { KubernetesObject } from "@swath/kubernetes";

import { overrideOf } from "../../profiles/quantities.ts";
import { HUB_PORT, PROXY_PORT, STORAGE_PORT } from "../inside-environment.ts";
import type { Launch } from "../spawner.ts";
import { BESIDE, HOME_CLAIM, SERVER } from "./pod-types.ts";

/** The hub as pods of servers reach it. */
export interface HubAddress {
  readonly namespace: string;
  readonly workload: string;
  readonly proxyWorkload: string;
  readonly apiPort: number;
  readonly storagePort: number;
  readonly egressPorts: { readonly platform: number; readonly internet: number };
}

/** Where one server's pod is and what it finds there. */
export interface PodPlace {
  readonly pod: string;
  readonly namespace: string;
  readonly deployment: string;
  readonly hub: HubAddress;
  /** The hub's own image, whose program leads to the hub and keeps the workspace's files. */
  readonly image: string;
  readonly storageClass: string | undefined;
  readonly homeSize: string;
  readonly hasStorage: boolean;
  /** Secrets that images are pulled with, whether they are there or not. */
  readonly pullSecrets: readonly string[];
  /** Names of what every server finds in `FILES`. */
  readonly files: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly port: number;
}

export const HOME = "/home/jovyan";
/** Where a server finds the client for Python, and the examples in a folder. */
export const FILES = "/opt/swath";
export const EXAMPLES = `${FILES}/examples`;
/** Who the images of the Jupyter project are made for, and JupyterHub runs them as. */
const USER = { uid: 1000, gid: 100 };
const GUARANTEED = { cpu: "50m", memory: 128 * 2 ** 20 };
const STOP_SECONDS = 10;
/** Ends when the hub's port of the loopback is there, and in any case after a while: the pod then says what is wrong. */
const UNTIL_LISTENING = `const look = () => require("node:net").connect(${HUB_PORT}, "127.0.0.1").on("connect", () => process.exit())
  .on("error", () => setTimeout(look, 50)); look(); setTimeout(() => process.exit(), 20000)`;
const SECURITY = { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } };

/** The pod of a server, under the restricted pod security standard, as JupyterHub's spawner for Kubernetes makes it. */
export function createPod(launch: Launch, place: PodPlace, labels: Readonly<Record<string, string>>): KubernetesObject {
  const { profile, user, name, options } = launch;
  const override = overrideOf(profile, options);
  const uid = override.uid ?? USER.uid;
  const gid = override.gid ?? USER.gid;
  const pullSecrets = [
    ...(profile.image_pull_secrets ?? []).map((secret) => (typeof secret === "string" ? secret : secret.name)),
    ...place.pullSecrets,
  ];
  const initial = profile.init_containers ?? [];
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: place.pod,
      namespace: place.namespace,
      labels: { ...labels, "swath.io/hub-home": HOME_CLAIM },
      annotations: {
        "hub.jupyter.org/username": user,
        "hub.jupyter.org/servername": name,
        "swath.io/profile": profile.id,
      },
    },
    spec: {
      restartPolicy: "Never",
      // Only a profile that gives its programs rights in the namespace needs the account.
      automountServiceAccountToken: (profile.role_bindings ?? []).length > 0,
      enableServiceLinks: false,
      terminationGracePeriodSeconds: STOP_SECONDS,
      ...(pullSecrets.length > 0 && { imagePullSecrets: [...new Set(pullSecrets)].map((each) => ({ name: each })) }),
      ...toNodes({ ...profile.node_selector, ...override.node_selector }, override.tolerations ?? []),
      // One node has the home of a user at a time; the first server chooses it.
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              labelSelector: { matchLabels: { "swath.io/hub-home": HOME_CLAIM } },
              topologyKey: "kubernetes.io/hostname",
            },
          ],
        },
      },
      securityContext: {
        runAsNonRoot: true,
        runAsUser: uid,
        runAsGroup: gid,
        fsGroup: override.fs_gid ?? gid,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
      ...(initial.length > 0 && {
        initContainers: initial.map(({ name: own, image, command, volume_mounts: mounts }) => ({
          name: own,
          image,
          imagePullPolicy: "IfNotPresent",
          ...(command && { command }),
          volumeMounts: (mounts ?? []).map(toMount),
          resources: toResources(launch),
          securityContext: SECURITY,
        })),
      }),
      // In this order: the hub is there when the server asks for it.
      containers: [createBeside(place), createServer(launch, place)],
      volumes: listVolumes(launch, place),
    },
  };
}

function toNodes(selector: Readonly<Record<string, string>>, tolerations: readonly object[]): object {
  return {
    ...(Object.keys(selector).length > 0 && { nodeSelector: selector }),
    ...(tolerations.length > 0 && { tolerations }),
  };
}

function createServer(launch: Launch, place: PodPlace): object {
  const { profile, options } = launch;
  const override = overrideOf(profile, options);
  const fill = (part: string) =>
    part
      .replaceAll("{port}", String(place.port))
      .replaceAll("{base}", launch.base)
      .replaceAll("{home}", HOME)
      .replaceAll("{user}", launch.user)
      .replaceAll("{origin}", launch.origin)
      // Kubernetes takes `$(NAME)` for a variable and `$$` for `$`.
      .replaceAll("$", "$$$$");
  const maps = new Map((profile.config_maps ?? []).map((map) => [map.name, map]));
  // Those of config maps that the namespace has already; the others' contents are in the environment.
  const referred = Object.entries(profile.pod_env_vars ?? {}).flatMap(([variable, value]) =>
    typeof value === "object" && typeof maps.get(value.from_config_map.name)?.content !== "string"
      ? [{ name: variable, valueFrom: { configMapKeyRef: value.from_config_map } }]
      : [],
  );
  return {
    name: SERVER,
    image: override.image,
    imagePullPolicy: override.image_pull_policy ?? "IfNotPresent",
    ...(override.cmd && { command: override.cmd.map(fill) }),
    ...(override.args && { args: override.args.map(fill) }),
    workingDir: override.working_dir ?? HOME,
    env: referred,
    envFrom: [
      ...(profile.env_from_config_maps ?? []).map((name) => ({ configMapRef: { name } })),
      ...(profile.env_from_secrets ?? []).map((name) => ({ secretRef: { name } })),
      // Last, so that none of the others takes the place of what the hub says.
      { secretRef: { name: place.pod } },
    ],
    ports: [{ name: "server", containerPort: place.port }],
    volumeMounts: [
      { name: "home", mountPath: HOME },
      { name: "swath-files", mountPath: FILES, readOnly: true },
      ...(profile.volumes ?? []).flatMap(({ volume_mount: mount }) => (mount ? [toMount(mount)] : [])),
      ...(profile.config_maps ?? []).flatMap(({ name, key, mount_path: path, readonly }) =>
        path ? [{ name: `map-${name}`, mountPath: path, subPath: key ?? name, readOnly: readonly !== false }] : [],
      ),
      ...(profile.secret_mounts ?? []).map(({ name, mount_path: path, sub_path: part }) => ({
        name: `secret-${name}`,
        mountPath: path,
        readOnly: true,
        ...(part && { subPath: part }),
      })),
    ],
    resources: toResources(launch),
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: SECURITY,
  };
}

/** Leads ports of the pod's loopback to the hub, the object storage and the way out, and keeps ~/workspace the same as the bucket. */
function createBeside({ image, hub, hasStorage, pod, environment }: PodPlace): object {
  const api = `${hub.workload}.${hub.namespace}.svc`;
  const egress = environment["SWATH_EGRESS"] as "none" | "platform" | "internet";
  return {
    name: BESIDE,
    image,
    imagePullPolicy: "IfNotPresent",
    command: [
      "node",
      "--max-old-space-size=48",
      "--max-semi-space-size=1",
      "/app/components/application-hub/process/inside.cjs",
      ...(hasStorage ? ["sync", `out:${STORAGE_PORT}=${api}:${hub.storagePort}`] : []),
      `out:${HUB_PORT}=${api}:${hub.apiPort}`,
      ...(egress === "none"
        ? []
        : [`out:${PROXY_PORT}=${hub.proxyWorkload}.${hub.namespace}.svc:${hub.egressPorts[egress]}`]),
      "--",
    ],
    env: [{ name: "HOME", value: HOME }],
    envFrom: [{ secretRef: { name: pod } }],
    volumeMounts: [{ name: "home", mountPath: HOME }],
    // A node starts the next container when this has ended.
    lifecycle: { postStart: { exec: { command: ["node", "-e", UNTIL_LISTENING] } } },
    resources: { requests: { cpu: "10m", memory: "48Mi" }, limits: { cpu: "500m", memory: "160Mi" } },
    securityContext: { ...SECURITY, readOnlyRootFilesystem: true },
  };
}

function listVolumes({ profile }: Launch, { pod, files }: PodPlace): readonly object[] {
  return [
    { name: "home", persistentVolumeClaim: { claimName: HOME_CLAIM } },
    {
      name: "swath-files",
      configMap: {
        name: `${pod}-files`,
        items: files.map((key) => ({ key, path: key.endsWith(".ipynb") ? `examples/${key}` : key })),
      },
    },
    ...(profile.volumes ?? []).map(({ name, claim_name: claim }) => ({
      name,
      persistentVolumeClaim: { claimName: claim },
    })),
    ...(profile.config_maps ?? []).flatMap(({ name, mount_path: path, default_mode: mode }) =>
      path
        ? [
            {
              name: `map-${name}`,
              configMap: { name, ...(mode !== undefined && mode !== null && { defaultMode: toMode(mode) }) },
            },
          ]
        : [],
    ),
    ...(profile.secret_mounts ?? []).map(({ name }) => ({ name: `secret-${name}`, secret: { secretName: name } })),
  ];
}

/** `0660` is octal, as in YAML 1.1 and in a text; a number that YAML 1.2 read is the mode itself. */
const toMode = (mode: string | number): number => (typeof mode === "number" ? mode : Number.parseInt(mode, 8));

const toMount = ({
  name,
  mount_path: path,
  sub_path: part,
}: {
  readonly name: string;
  readonly mount_path: string;
  readonly sub_path?: string | null;
}): object => ({ name, mountPath: path, ...(part && { subPath: part }) });

function toResources({ profile, options, size }: Launch): object {
  const override = overrideOf(profile, options);
  const memory = Math.min(GUARANTEED.memory, size.memoryBytes);
  return {
    requests: {
      cpu: String(override.cpu_guarantee ?? GUARANTEED.cpu),
      memory: toKubernetesBytes(override.mem_guarantee) ?? String(memory),
      ...toTexts(override.extra_resource_guarantees),
    },
    limits: {
      cpu: `${Math.max(1, Math.round(size.cores * 1000))}m`,
      memory: String(size.memoryBytes),
      ...toTexts(override.extra_resource_limits),
    },
  };
}

/** JupyterHub's `2G` is 2^31 bytes, which Kubernetes writes `2Gi`. */
const toKubernetesBytes = (value: string | number | null | undefined): string | undefined =>
  value === undefined || value === null
    ? undefined
    : /[kKMGTP]$/.test(String(value))
      ? `${String(value).replace("k", "K")}i`
      : String(value);

const toTexts = (
  values: Readonly<Record<string, string | number>> | null | undefined,
): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(values ?? {}).map(([name, value]) => [name, String(value)]));
