import {
  type Component,
  type DeployContext,
  type EnvValue,
  administratorEnv,
  identityIssuerEnv,
} from "@swath/manifest";

import { PROCESS_ENVIRONMENT } from "./process-environment.ts";

const NAMESPACE = "rm";

/** The image registry at `registry.<domain>`. Content is in the object storage where there is one, else on a volume of its own. */
/** What the processing service shows to pull for users. */
const PROCESSING_SECRET = { kind: "generated", name: "registry-processing", bytes: 32 } as const;

export const manifest: Component = {
  name: "registry",
  title: "Image registry",
  namespace: NAMESPACE,
  databaseSchema: "registry",
  enabled: ({ variables }) => variables.REQUIRE_REGISTRY && variables.REGISTRY_URL === undefined,
  declare: ({ publicUrl }) => ({
    identityClients: [
      {
        // Without a secret: a public client.
        clientId: "registry",
        name: "Image registry",
        description: "Logging in to the console of the image registry",
        redirectUris: [`${publicUrl("registry")}/api/login/callback`],
        webOrigins: [publicUrl("registry")],
        backChannelLogoutUri: `${publicUrl("registry")}/api/login/back-channel`,
      },
    ],
    routes: [{ service: "registry", workload: "registry" }],
  }),
  deploy: (context) => {
    const { variables } = context.settings;
    const isOnVolume = variables.REGISTRY_CONTENT === "volume";
    return {
      workloads: [
        {
          name: "registry",
          namespace: NAMESPACE,
          component: "registry",
          kind: "service",
          env: {
            ...PROCESS_ENVIRONMENT,
            DATABASE_URL: { database: "url" },
            PUBLIC_URL: context.publicUrl("registry"),
            REGISTRY_ADMIN_PASSWORD: variables.REGISTRY_ADMIN_PASSWORD,
            REGISTRY_ADMIN_PASSWORD_ALSO: { also: variables.REGISTRY_ADMIN_PASSWORD },
            TOKEN_SECRET: { kind: "generated", name: "registry-token", bytes: 32 },
            PROCESSING_SECRET,
            PROCESSING_SECRET_ALSO: { also: PROCESSING_SECRET },
            ...(variables.PROCESSING_ALLOW_PRIVATE !== undefined && {
              ALLOW_PRIVATE: variables.PROCESSING_ALLOW_PRIVATE,
            }),
            BLOB_REDIRECTS: String(variables.REGISTRY_REDIRECT),
            ...administratorEnv(context),
            ...(isOnVolume ? { BLOBS: "volume", DATA_DIR: { volume: "registry" } } : toStorage(context)),
            ...toIdentity(context),
          },
          ports: [{ name: "http", number: 8080 }],
          ...(!isOnVolume && context.isEnabled("objstore") && { needs: ["objstore"] }),
          ...(isOnVolume && { mounts: [{ volume: "registry", path: "/data" }], strategy: "recreate" as const }),
          resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        },
      ],
      volumes: isOnVolume
        ? [
            {
              name: "registry",
              namespace: NAMESPACE,
              size: "20Gi",
              storageClass: variables.REGISTRY_STORAGE,
              accessMode: "ReadWriteOnce",
              backup: {
                kind: "program",
                component: "registry",
                entry: "backup",
                env: { DATA_DIR: { volume: "registry" } },
              },
            },
          ]
        : [],
    };
  },
};

/** The deployed object storage, or an existing one. */
function toStorage(context: DeployContext): Record<string, EnvValue> {
  const { OBJSTORE_ENDPOINT: endpoint, ...variables } = context.settings.variables;
  const address: Record<string, EnvValue> = context.isEnabled("objstore")
    ? { S3_URL: { peer: "objstore" }, S3_PUBLIC_URL: context.publicUrl("objstore") }
    : { S3_URL: endpoint ?? "", S3_PUBLIC_URL: endpoint ?? "" };
  return {
    ...address,
    BLOBS: "s3",
    S3_BUCKET: variables.REGISTRY_BUCKET,
    S3_REGION: variables.OBJSTORE_REGION,
    S3_ACCESS_KEY: variables.OBJSTORE_ROOT_USER,
    S3_SECRET_KEY: variables.OBJSTORE_ROOT_PASSWORD,
  };
}

/** Whose tokens are accepted: the deployed identity service's, an existing issuer's, or nobody's. */
function toIdentity(context: DeployContext): Record<string, EnvValue> {
  const { settings, isEnabled } = context;
  const { IDENTITY_ISSUER_URL: issuer, IDENTITY_ACCEPTED_AUDIENCES: audiences } = settings.variables;
  if (issuer !== undefined) {
    return { IDENTITY_ISSUER: issuer, ACCEPTED_AUDIENCES: audiences };
  }
  return isEnabled("identity")
    ? {
        ...identityIssuerEnv(context),
        ACCEPTED_AUDIENCES: audiences,
      }
    : {};
}
