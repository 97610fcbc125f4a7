import { SERVER_LABEL, WORKSPACE_LABEL } from "@swath/kubernetes";
import {
  type Component,
  type DeployContext,
  type EnvValue,
  type OwnNamespaces,
  type Volume,
  acceptedTokensEnv,
  administratorEnv,
  workspacePrefix,
} from "@swath/manifest";

import { HUB_PORTS } from "./spawners/pods/hub-ports.ts";

/** ConfigMap of the images that the hub starts pods of. */
const IMAGES = "application-hub-images";
const NAMESPACE = { A: "proc", B: "pde" } as const;

/** Namespaces of workspaces, and what the hub may do in them for its servers. Rights of profiles' accounts are among these. */
export const SERVER_NAMESPACES: OwnNamespaces = {
  label: WORKSPACE_LABEL,
  bindsRoles: true,
  rules: [
    { apiGroups: [""], resources: ["pods"], verbs: ["create", "get", "list", "watch", "delete"] },
    { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
    { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "create", "patch", "delete"] },
    { apiGroups: [""], resources: ["persistentvolumeclaims"], verbs: ["get", "create", "patch"] },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["get", "create", "patch"] },
    {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["roles", "rolebindings"],
      verbs: ["get", "create", "patch"],
    },
    { apiGroups: ["metrics.k8s.io"], resources: ["pods"], verbs: ["get"] },
  ],
};

/** Services that programs of users find in their environment. */
const SERVICES = [
  "ades",
  "workspace-api",
  "resource-catalogue",
  "data-access",
  "registration-api",
  "identity",
  "auth",
  "portal",
  "registry",
  "objstore",
];

/** Users' notebooks and applications next to the data: `application-hub.<domain>`, `pde.<domain>` in variant B. */
export const manifest: Component = {
  name: "application-hub",
  title: "Application hub",
  namespace: NAMESPACE,
  databaseSchema: "application_hub",
  enabled: ({ variant, variables }) => (variant === "A" ? variables.REQUIRE_APPLICATION_HUB : variables.REQUIRE_PDE),
  declare: (context) => {
    const service = serviceOf(context);
    const url = context.publicUrl(service);
    return {
      routes: [{ service, workload: "application-hub-proxy", wildcard: true, holdsUserContent: true }],
      identityClients: [
        {
          // Without a secret: a public client.
          clientId: "application-hub",
          name: "Application hub",
          description: "Notebooks and applications beside the data",
          redirectUris: [`${url}/hub/oauth_callback`, `${url}/hub/logged-out`],
          webOrigins: [url],
          backChannelLogoutUri: `${url}/hub/back-channel-logout`,
          tokensForPlatform: true,
        },
      ],
    };
  },
  deploy: (context) => {
    const { variables, variant } = context.settings;
    const namespace = NAMESPACE[variant];
    const volume: Volume = {
      name: "application-hub",
      namespace,
      size: "20Gi",
      storageClass: variant === "A" ? variables.APPLICATION_HUB_STORAGE : variables.PDE_STORAGE,
      accessMode: "ReadWriteOnce",
      backup: {
        kind: "program",
        component: "application-hub",
        entry: "backup",
        env: { DATA_DIR: { volume: "application-hub" } },
      },
    };
    const shared: Record<string, EnvValue> = {
      DATABASE_URL: { database: "url" },
      PUBLIC_URL: context.publicUrl(serviceOf(context)),
      DATA_DIR: { volume: "application-hub" },
      HUB_SECRET: { kind: "generated", name: "application-hub", bytes: 32 },
      PLATFORM_SERVICES: JSON.stringify(listServices(context)),
      PLATFORM_CA_FILE: { authority: "file" },
    };
    return {
      workloads: [
        {
          name: "application-hub",
          namespace,
          component: "application-hub",
          kind: "service",
          env: {
            ...shared,
            ...acceptedTokensEnv(context),
            ...administratorEnv(context),
            WORKSPACE_PREFIX: workspacePrefix(context.settings),
            ...toStorage(context),
            CONTAINER_ENGINE: variables.CONTAINER_ENGINE,
            ...toPods(context),
          },
          ports: [
            { name: "http", number: HUB_PORTS.apiPort },
            { name: "storage", number: HUB_PORTS.storagePort },
          ],
          ownNamespaces: SERVER_NAMESPACES,
          calledByPods: SERVER_LABEL,
          // Pods of servers, whose addresses no policy can name.
          callsOutside: true,
          mounts: [{ volume: "application-hub", path: "/data" }],
          account: "sandbox",
          strategy: "recreate",
          resources: { requests: { cpu: "25m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        },
        {
          name: "application-hub-proxy",
          namespace,
          component: "application-hub",
          entry: "proxy/main",
          kind: "service",
          env: { ...shared, HUB_URL: { peer: "application-hub" }, PLATFORM_DOMAIN: context.settings.domain },
          ports: [
            { name: "http", number: 8080 },
            { name: "platform", number: HUB_PORTS.egressPorts.platform },
            { name: "internet", number: HUB_PORTS.egressPorts.internet },
          ],
          calledByPods: SERVER_LABEL,
          mounts: [{ volume: "application-hub", path: "/data" }],
          account: "sandbox",
          strategy: "recreate",
          resources: { requests: { cpu: "25m", memory: "96Mi" }, limits: { memory: "512Mi" } },
          callsOutside: true,
        },
      ],
      volumes: [volume],
      configMaps: [{ name: IMAGES, namespace, data: { servers: variables.SWATH_IMAGE } }],
    };
  },
};

const serviceOf = ({ settings }: DeployContext): string => (settings.variant === "A" ? "application-hub" : "pde");

/** Public addresses of what is deployed, by the services' ids. */
function listServices({ declared, publicUrl }: DeployContext): Readonly<Record<string, string>> {
  return Object.fromEntries(
    SERVICES.filter((id) => declared.routes.some(({ service }) => service === id)).map((id) => [id, publicUrl(id)]),
  );
}

/** Servers are pods of their users' namespaces where there is a cluster. */
function toPods({ settings: { clusterName, variables, variant } }: DeployContext): Record<string, EnvValue> {
  const storageClass = variant === "A" ? variables.APPLICATION_HUB_STORAGE : variables.PDE_STORAGE;
  return {
    SPAWNER: { onKubernetes: "pods" },
    DEPLOYMENT: { onKubernetes: clusterName },
    POD_IMAGE: { onKubernetes: { configMap: IMAGES, key: "servers" } },
    HOME_STORAGE_CLASS: { onKubernetes: storageClass },
  };
}

function toStorage({ settings: { variables }, isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  const { OBJSTORE_ENDPOINT: endpoint, OBJSTORE_REGION: region } = variables;
  return isEnabled("objstore")
    ? { S3_URL: { peer: "objstore" }, S3_PUBLIC_URL: publicUrl("objstore"), S3_REGION: region }
    : endpoint === undefined
      ? {}
      : { S3_URL: endpoint, S3_PUBLIC_URL: endpoint, S3_REGION: region };
}
