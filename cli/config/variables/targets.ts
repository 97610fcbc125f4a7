import type { Variables } from "@swath/manifest";

import { certificateVariables } from "./certificates.ts";
import { kubernetesVariables } from "./kubernetes.ts";

/** Where a variable means something, for those that do not everywhere. */
export type OnlyOn = "the embedded cluster" | "Kubernetes" | "a local cluster";

type Name = keyof Variables;
const namesOf = (group: object) => Object.keys(group) as readonly Name[];

const NAMES: Readonly<Record<OnlyOn, readonly Name[]>> = {
  "the embedded cluster": [
    ...namesOf(certificateVariables),
    "LOCALCLUSTER_EXTRA_OPTIONS",
    "TRUSTED_PROXIES",
    "USE_HTTP2",
    "CONTAINER_ENGINE",
    "CONTAINER_AUTH_FILE",
    "PROCESSING_HOST_TOOLS",
    "PROCESSING_HOST_TOOLS_EXPOSED",
  ],
  Kubernetes: [
    ...namesOf(kubernetesVariables),
    "REQUIRE_CERTIFICATE_MANAGER",
    "REQUIRE_ACME_ISSUERS",
    "REQUIRE_SEALED_SECRETS",
    "LOCALCLUSTER_VERSION",
    "LOCALCLUSTER_ORCH_VERSION",
    "LOCALCLUSTER_DISK_AMOUNT",
    "USE_LOADBALANCER_ADDON",
    "USE_INGRESS_CONTROLLER_HELM",
    "USE_INGRESS_CONTROLLER_LOADBALANCER",
    "SWATH_IMAGE",
    "POSTGRES_IMAGE",
    "PROCESSING_ZOO_IMAGE",
    "SERVICE_REPLICAS",
    "SERVICE_REPLICAS_MAX",
    "DEFAULT_STORAGE",
    "POSTGRES_STORAGE",
    "POSTGRES_STORAGE_SIZE",
    "POSTGRES_STORAGE_ACCESS",
    "OBJSTORE_STORAGE",
    "OBJSTORE_STORAGE_SIZE",
    "OBJSTORE_STORAGE_ACCESS",
    "ADES_STORAGE",
    "ADES_STORAGE_SIZE",
    "ADES_STORAGE_ACCESS",
    "APPLICATION_HUB_STORAGE",
    "PDE_STORAGE",
    "REGISTRY_STORAGE",
    "PROCESSING_PULL_SECRETS",
    "PROCESSING_NODE_SELECTOR",
    "PROCESSING_TOLERATIONS",
    "PROCESSING_PRIORITY_CLASS",
    "PROCESSING_QUEUE",
    "PROCESSING_STEP_FILES",
    "PROCESSING_NODE_CACHE",
    "PROCESSING_STEP_ACCESS_KEY",
    "PROCESSING_STEP_SECRET_KEY",
    "TEMP_FORWARDING_PORT",
  ],
  "a local cluster": ["LOCALCLUSTER_CPU_AMOUNT", "LOCALCLUSTER_MEMORY_AMOUNT"],
};

const onlyOn = new Map<Name, OnlyOn>(
  (Object.entries(NAMES) as [OnlyOn, readonly Name[]][]).flatMap(([where, names]) =>
    names.map((name) => [name, where] as const),
  ),
);

/** Where the variable means something; undefined for everywhere. */
export const findOnlyOn = (name: Name): OnlyOn | undefined => onlyOn.get(name);
