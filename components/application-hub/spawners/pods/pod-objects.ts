import { type KubernetesObject, SERVER_LABEL } from "@swath/kubernetes";

import type { Profile } from "../../profiles/model.ts";
import type { Launch } from "../spawner.ts";
import { type PodPlace, createPod } from "./pod-spec.ts";
import { HOME_CLAIM } from "./pod-types.ts";

/** Objects of a server, in the order in which they are made. All but lasting ones belong to the first and go with it. */
export interface ServerObjects {
  /** A Secret with its environment: no token stands in the pod's own description. */
  readonly anchor: KubernetesObject;
  /** Made once, and never changed: volumes keep what is in them. */
  readonly volumes: readonly PlacedObject[];
  readonly others: readonly PlacedObject[];
  readonly pod: KubernetesObject;
}

export interface PlacedObject {
  readonly object: KubernetesObject;
  /** Stays when the server ends. */
  readonly lasts: boolean;
}

/** What a server is on a cluster. */
export function createServerObjects(
  launch: Launch,
  place: PodPlace,
  files: Readonly<Record<string, string>>,
): ServerObjects {
  const { profile } = launch;
  const { pod, namespace } = place;
  const meta = (name: string) => ({ name, namespace, labels: labelsOf(launch, place) });
  const core = (kind: string, name: string, body: object): KubernetesObject => ({
    apiVersion: "v1",
    kind,
    metadata: meta(name),
    ...body,
  });
  return {
    anchor: core("Secret", pod, { type: "Opaque", stringData: place.environment }),
    volumes: [
      {
        object: core("PersistentVolumeClaim", HOME_CLAIM, { spec: toClaim(place, { size: place.homeSize }) }),
        lasts: true,
      },
      ...(profile.volumes ?? []).map((volume) => ({
        object: core("PersistentVolumeClaim", volume.claim_name, { spec: toClaim(place, volume) }),
        lasts: volume.persist === true,
      })),
    ],
    others: [
      { object: core("ConfigMap", `${pod}-files`, { data: files }), lasts: false },
      { object: createNetwork(launch, place), lasts: false },
      ...(profile.config_maps ?? []).flatMap(({ name, key, content, persist }) =>
        typeof content === "string"
          ? [{ object: core("ConfigMap", name, { data: { [key ?? name]: content } }), lasts: persist === true }]
          : [],
      ),
      ...(profile.image_pull_secrets ?? []).flatMap((secret) =>
        typeof secret === "object" && typeof secret.data === "string"
          ? [
              {
                object: core("Secret", secret.name, {
                  type: "kubernetes.io/dockerconfigjson",
                  data: { ".dockerconfigjson": secret.data },
                }),
                lasts: secret.persist === true,
              },
            ]
          : [],
      ),
      ...(profile.role_bindings ?? []).flatMap((binding) => createRole(binding, meta)),
      ...(profile.manifests ?? []).flatMap(({ content, persist }) =>
        (content ?? []).map((each) => ({ object: toOwnNamespace(each, namespace), lasts: persist === true })),
      ),
    ],
    pod: createPod(launch, place, labelsOf(launch, place)),
  };
}

const labelsOf = ({ id }: Launch, { deployment }: PodPlace): Readonly<Record<string, string>> => ({
  "app.kubernetes.io/name": "jupyter",
  "app.kubernetes.io/part-of": "swath",
  "app.kubernetes.io/managed-by": "swath-application-hub",
  "swath.io/deployment": deployment,
  [SERVER_LABEL]: id,
});

interface ClaimWish {
  readonly size?: string | number | null;
  readonly storage_class?: string | null;
  readonly access_modes?: readonly string[] | null;
}

function toClaim({ storageClass }: PodPlace, { size, storage_class: own, access_modes: modes }: ClaimWish): object {
  const name = own ?? storageClass;
  return {
    accessModes: modes ?? ["ReadWriteOnce"],
    ...(name !== undefined && { storageClassName: name }),
    resources: { requests: { storage: String(size ?? "1Gi") } },
  };
}

/**
 * The hub and its proxy come in. Out it goes to them alone: the hub's API and the object storage, and the proxy of its profile's
 * `egress`, which leads to the platform or to the internet.
 */
function createNetwork({ id, profile }: Launch, place: PodPlace): KubernetesObject {
  const { namespace, pod, hub, port } = place;
  const workload = (name: string) => ({
    namespaceSelector: { matchLabels: { "swath.io/namespace": hub.namespace } },
    podSelector: { matchLabels: { "app.kubernetes.io/name": name } },
  });
  const egress = profile.egress ?? "platform";
  const tcp = (number: number) => ({ port: number, protocol: "TCP" });
  return {
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name: pod, namespace },
    spec: {
      podSelector: { matchLabels: { [SERVER_LABEL]: id } },
      policyTypes: ["Ingress", "Egress"],
      ingress: [{ from: [workload(hub.workload), workload(hub.proxyWorkload)], ports: [tcp(port)] }],
      egress: [
        { ports: [{ port: 53, protocol: "UDP" }, tcp(53)] },
        { to: [workload(hub.workload)], ports: [tcp(hub.apiPort), tcp(hub.storagePort)] },
        ...(egress === "none" ? [] : [{ to: [workload(hub.proxyWorkload)], ports: [tcp(hub.egressPorts[egress])] }]),
        // A program with an account of its own talks to the cluster's API.
        ...((profile.role_bindings ?? []).length === 0 ? [] : [{ ports: [tcp(443), tcp(6443), tcp(8443)] }]),
      ],
    },
  };
}

type Binding = NonNullable<NonNullable<Profile["role_bindings"]>>[number];

function createRole(
  { name, subjects, role, persist }: Binding,
  meta: (name: string) => KubernetesObject["metadata"],
): readonly PlacedObject[] {
  const group = "rbac.authorization.k8s.io";
  const lasts = persist === true;
  const rules = [{ apiGroups: role.api_groups ?? [""], resources: role.resources, verbs: role.verbs }];
  return [
    { object: { apiVersion: `${group}/v1`, kind: "Role", metadata: meta(role.name), rules }, lasts },
    {
      object: {
        apiVersion: `${group}/v1`,
        kind: "RoleBinding",
        metadata: meta(name),
        roleRef: { apiGroup: group, kind: "Role", name: role.name },
        subjects: subjects.map((subject) => ({
          ...subject,
          ...(subject.kind === "ServiceAccount" && { namespace: meta(name).namespace ?? "" }),
        })),
      },
      lasts,
    },
  ];
}

/** Whatever the file says, in the namespace of the server's user. */
function toOwnNamespace(object: Readonly<Record<string, unknown>>, namespace: string): KubernetesObject {
  const metadata = (object["metadata"] ?? {}) as KubernetesObject["metadata"];
  return { ...(object as unknown as KubernetesObject), metadata: { ...metadata, namespace } };
}
