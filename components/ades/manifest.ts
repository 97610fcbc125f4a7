import {
  type Component,
  type DeployContext,
  type EnvValue,
  acceptedTokensEnv,
  administratorAudience,
  listDeclaredUsers,
  toBytes,
  usesCloud,
} from "@swath/manifest";

import {
  TOOL_PODS_ROLE,
  createAgents,
  createImageList,
  createToolNetworks,
  narrowStorage,
  storageNeeds,
  toPodSettings,
} from "./execution/kubernetes/deployment.ts";

const NAMESPACE = { A: "zoo", B: "proc" } as const;

/** The processing service at `ades.<domain>`: each user in a space of the own, `/{user}/…`. */
export const manifest: Component = {
  name: "ades",
  title: "Processing service",
  namespace: NAMESPACE,
  databaseSchema: "ades",
  enabled: ({ variables }) => variables.REQUIRE_ADES,
  declare: ({ settings, settings: { variables } }) => ({
    routes: [
      {
        service: "ades",
        workload: "ades",
        offersOpenHost: true,
        protection: {
          required: variables.REQUIRE_ADES_PROTECTION,
          clientId: "ades",
          openPaths: ["^/$", "^/docs(/.*)?$", "^/swagger-ui/oapip/?$", "^/openapi\\.json$", "^/resources/ades\\.css$"],
        },
      },
    ],
    identityClients: [
      {
        clientId: "ades",
        name: "Processing service",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: [
          { name: "admin", uris: ["/*"], ...administratorAudience(settings) },
          ...listDeclaredUsers(settings).map((user) => {
            const { users, roles } = administratorAudience(settings);
            return { name: user, uris: [`/${user}/*`], users: [user, ...users], roles };
          }),
        ],
      },
    ],
  }),
  deploy: (context) => {
    const { variables, variant } = context.settings;
    const namespace = NAMESPACE[variant];
    return {
      workloads: [
        {
          name: "ades",
          namespace,
          component: "ades",
          kind: "service",
          strategy: "recreate",
          env: {
            DATABASE_URL: { database: "url" },
            DATA_DIR: { volume: "ades" },
            PUBLIC_URL: context.publicUrl("ades"),
            PLATFORM_DOMAIN: context.settings.domain,
            ...(variant === "B" && { EARLIER_LINE: "true" }),
            AUTHENTICATION: variables.REQUIRE_ADES_PROTECTION ? "required" : "optional",
            ...(variables.OPEN_INGRESS && { OPEN_HOST: context.host("ades-open") }),
            MAX_CORES: String(variables.PROCESSING_MAX_CORES),
            MAX_RAM_MIB: String(toMebibytes(variables.PROCESSING_MAX_RAM)),
            ...(variables.PROCESSING_ALLOW_PRIVATE !== undefined && {
              ALLOW_PRIVATE: variables.PROCESSING_ALLOW_PRIVATE,
            }),
            TOOL_NETWORK: variables.PROCESSING_TOOL_NETWORK,
            MAX_DISK_MIB: String(toMebibytes(variables.PROCESSING_MAX_DISK)),
            MAX_PROCESSES: String(variables.PROCESSING_MAX_PROCESSES),
            MAX_OPEN_FILES: String(variables.PROCESSING_MAX_OPEN_FILES),
            MAX_TOOL_SECONDS: String(variables.PROCESSING_MAX_TIME),
            ...(variables.PROCESSING_PARALLEL_JOBS !== undefined && {
              PARALLEL_JOBS: String(variables.PROCESSING_PARALLEL_JOBS),
            }),
            ...(variables.PROCESSING_USER_JOBS !== undefined && {
              USER_RUNNING_JOBS: String(variables.PROCESSING_USER_JOBS),
            }),
            ...(variables.PROCESSING_USER_QUEUE !== undefined && {
              USER_QUEUED_JOBS: String(variables.PROCESSING_USER_QUEUE),
            }),
            JOB_RETENTION_DAYS: String(variables.PROCESSING_JOB_RETENTION_DAYS),
            RESULT_RETENTION: variables.PROCESSING_RESULT_RETENTION,
            ...toMachine(context),
            ...acceptedTokensEnv(context),
            ...narrowStorage(context, toStorage(context)),
            ...toRegistry(context),
            ...toPodSettings(context, namespace),
          },
          clusterRole: TOOL_PODS_ROLE,
          ports: [{ name: "http", number: 8080 }],
          mounts: [{ volume: "ades", path: "/data" }],
          account: "sandbox",
          needs: storageNeeds(context),
          callsOutside: true,
          resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } },
        },
        ...createAgents(context, namespace),
      ],
      volumes: [
        {
          name: "ades",
          namespace,
          size: variables.ADES_STORAGE_SIZE,
          storageClass: variables.ADES_STORAGE,
          accessMode: variables.ADES_STORAGE_ACCESS,
          backup: {
            kind: "nothing",
            because: "it holds only what jobs at work have staged and made; they are run again",
          },
        },
      ],
      configMaps: [createImageList(context, namespace)],
      podNetworks: createToolNetworks(context.settings, namespace),
    };
  },
};

/** Results go to the user's workspace where there is one, else to a bucket of the platform's own. */
function toStorage({ settings, isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  const { variables } = settings;
  const toWorkspace = variables.STAGEOUT_TARGET === "workspace" && isEnabled("workspace-api");
  return {
    STAGEOUT_TARGET: toWorkspace ? "workspace" : "objstore",
    S3_REGION: variables.OBJSTORE_REGION,
    ...(toWorkspace && usesCloud(settings)
      ? // Buckets of workspaces are there.
        { S3_ENDPOINT: variables.CLOUD_S3_URL }
      : isEnabled("objstore")
        ? { S3_ENDPOINT: { peer: "objstore" }, OBJSTORE_PUBLIC_URL: publicUrl("objstore") }
        : variables.OBJSTORE_ENDPOINT !== undefined && { S3_ENDPOINT: variables.OBJSTORE_ENDPOINT }),
    S3_ACCESS_KEY: variables.OBJSTORE_ROOT_USER,
    S3_SECRET_KEY: variables.OBJSTORE_ROOT_PASSWORD,
    ...(isEnabled("resource-catalogue") && {
      CATALOGUE_PUBLIC_URL: publicUrl("resource-catalogue"),
      CATALOGUE_URL: { peer: "resource-catalogue" },
      // Where anybody may read everything, nobody has to be read for.
      ...(variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION && {
        CATALOGUE_DELEGATE_URL: { peer: "resource-catalogue", port: "internal" },
        CATALOGUE_DELEGATE_SECRET: { kind: "generated", name: "resource-catalogue-delegate", bytes: 32 } as const,
      }),
    }),
    // Results go there, or inputs come from there.
    ...(!isEnabled("resource-catalogue") && { REGISTER_RESULTS: "false" }),
    ...(isEnabled("workspace-api") && {
      WORKSPACE_URL: { peer: "workspace-api", port: "internal" },
      WORKSPACE_SECRET: { kind: "generated", name: "workspace-api-internal", bytes: 32 } as const,
    }),
  };
}

/** Packages and images of the platform's own registry are pulled with the rights of the job's owner. */
function toRegistry({ isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  return isEnabled("registry")
    ? {
        REGISTRY_URL: { peer: "registry" },
        REGISTRY_HOST: new URL(publicUrl("registry")).host,
        REGISTRY_SECRET: { kind: "generated", name: "registry-processing", bytes: 32 },
      }
    : {};
}

/** On the embedded cluster tools run on its machine, and jobs share what the cluster was given of it. */
function toMachine({ settings: { variables } }: DeployContext): Record<string, EnvValue> {
  const { LOCALCLUSTER_CPU_AMOUNT: cores, LOCALCLUSTER_MEMORY_AMOUNT: memory } = variables;
  const isEmbedded = variables.REQUIRE_LOCALCLUSTER && variables.LOCALCLUSTER_TOOL === "embedded";
  return isEmbedded
    ? {
        CONTAINER_ENGINE: variables.CONTAINER_ENGINE,
        HOST_TOOLS: variables.PROCESSING_HOST_TOOLS,
        ...(variables.CONTAINER_AUTH_FILE !== undefined && { CONTAINER_AUTH_FILE: variables.CONTAINER_AUTH_FILE }),
        CAPACITY_CORES: cores,
        ...(memory !== "max" && { CAPACITY_RAM_MIB: String(toToolMebibytes(memory)) }),
      }
    : {};
}

/** A size as tools of local clusters write it, in MiB: units are powers of 1024, a bare number is MiB. */
function toToolMebibytes(size: string): number {
  const [, amount = "0", unit = ""] = /^([\d.]+)(\w*)$/.exec(size) ?? [];
  const power = unit.toLowerCase() === "b" ? -2 : "kmgtp".indexOf(unit.charAt(0).toLowerCase() || "m") - 1;
  return Math.max(64, Math.floor(Number(amount) * 1024 ** power));
}

/** A Kubernetes quantity of memory in MiB, at least the 64 that a step needs to start. */
function toMebibytes(quantity: string): number {
  return Math.max(64, Math.floor(toBytes(quantity) / 2 ** 20));
}
