import { WORKSPACE_LABEL } from "@swath/kubernetes";
import {
  type Component,
  type DeployContext,
  type EnvValue,
  type OwnNamespaces,
  administratorAudience,
  administratorEnv,
  identityIssuerEnv,
  usesCloud,
  workspacePrefix,
} from "@swath/manifest";

const NAMESPACE = "rm";

/** Namespaces of workspaces, and what the reconciler may do in them. */
export const OWN_NAMESPACES: OwnNamespaces = {
  label: WORKSPACE_LABEL,
  rules: [
    // Of each namespace, the namespace itself.
    { apiGroups: [""], resources: ["namespaces"], verbs: ["patch", "delete"] },
    {
      apiGroups: [""],
      resources: ["secrets", "configmaps", "resourcequotas", "limitranges"],
      verbs: ["get", "create", "patch"],
    },
    { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], verbs: ["get", "create", "patch"] },
  ],
};

const RECONCILER = "workspace-reconciler";
/** What other services show that act for a user. */
const INTERNAL_SECRET = { kind: "generated", name: "workspace-api-internal", bytes: 32 } as const;

/** Workspaces: the API at `workspace-api.<domain>`, and the reconciler that makes and keeps what belongs to them. */
export const manifest: Component = {
  name: "workspace-api",
  title: "Workspace API",
  namespace: NAMESPACE,
  databaseSchema: "workspace",
  enabled: ({ variables }) => variables.REQUIRE_WORKSPACE_API,
  declare: ({ settings, settings: { variables } }) => ({
    routes: [
      {
        service: "workspace-api",
        workload: "workspace-api",
        offersOpenHost: true,
        protection: {
          required: variables.REQUIRE_WORKSPACE_API_PROTECTION,
          clientId: "workspace-api",
          openPaths: ["^/$", "^/docs(/.*)?$", "^/openapi\\.json$", "^/probe$"],
        },
      },
    ],
    identityClients: [
      {
        clientId: "workspace-api",
        name: "Workspace API",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: [
          { name: "admin", uris: ["/*"], ...administratorAudience(settings) },
          // Everybody may list and create their own; the API decides which those are.
          { name: "workspaces", uris: ["/workspaces"], authenticated: true },
        ],
      },
      {
        clientId: RECONCILER,
        name: "Workspace reconciler",
        secret: { kind: "generated", name: "identity-client", bytes: 32 },
        managementRoles: ["query-users", "view-users", "query-clients", "view-authorization", "manage-authorization"],
      },
    ],
  }),
  deploy: (context) => {
    const { variables } = context.settings;
    return {
      workloads: [
        {
          name: "workspace-api",
          namespace: NAMESPACE,
          component: "workspace-api",
          kind: "service",
          env: {
            ...toShared(context),
            PUBLIC_URL: context.publicUrl("workspace-api"),
            PREFIX_FOR_NAME: workspacePrefix(context.settings),
            AUTHENTICATION: variables.REQUIRE_WORKSPACE_API_PROTECTION ? "required" : "optional",
            ...(variables.OPEN_INGRESS && { OPEN_HOST: context.host("workspace-api-open") }),
            WORKSPACE_CREATION: variables.WORKSPACE_CREATION,
            WORKSPACE_LIMIT_PER_USER: String(variables.WORKSPACE_LIMIT_PER_USER),
            INTERNAL_SECRET,
            INTERNAL_SECRET_ALSO: { also: INTERNAL_SECRET },
            ...toPublicStorage(context),
            ...(context.isEnabled("registration-api") && {
              REGISTRATION_URL: { peer: "registration-api", port: "internal" },
              REGISTRATION_SECRET: { kind: "generated", name: "registration-api-internal", bytes: 32 } as const,
            }),
          },
          ports: [
            { name: "http", number: 8080 },
            { name: "internal", number: 8081 },
          ],
          resources: { requests: { cpu: "25m", memory: "96Mi" }, limits: { memory: "256Mi" } },
        },
        createReconciler(context),
      ],
    };
  },
};

function createReconciler(context: DeployContext) {
  return {
    name: RECONCILER,
    namespace: NAMESPACE,
    component: "workspace-api",
    entry: "reconciler/main",
    kind: "service" as const,
    env: {
      ...toShared(context),
      ...toServiceAccount(context),
      WORKSPACE_NAMESPACES: { onKubernetes: "true" },
      DEPLOYMENT: { onKubernetes: context.settings.clusterName },
      ...toPublicStorage(context),
      ...toStorage(context),
      ...toOperator(context),
      ...toRegistry(context),
    },
    ownNamespaces: OWN_NAMESPACES,
    resources: { requests: { cpu: "25m", memory: "96Mi" }, limits: { memory: "256Mi" } },
  };
}

/** The client that acts for the reconciler at the deployed identity service. */
function toServiceAccount({ isEnabled, declared }: DeployContext): Record<string, EnvValue> {
  const secret = declared.identityClients.find(({ clientId }) => clientId === RECONCILER)?.secret;
  return isEnabled("identity") && secret !== undefined
    ? { IDENTITY_CLIENT: RECONCILER, IDENTITY_CLIENT_SECRET: secret, IDENTITY_CLIENT_SECRET_ALSO: { also: secret } }
    : {};
}

/** Where buckets are made: the deployed object storage, or an existing one by plain S3. */
function toStorage({ settings: { variables }, isEnabled }: DeployContext): Record<string, EnvValue> {
  const { OBJSTORE_ENDPOINT: endpoint } = variables;
  const keys = {
    OBJSTORE_ROOT_USER: variables.OBJSTORE_ROOT_USER,
    OBJSTORE_ROOT_PASSWORD: variables.OBJSTORE_ROOT_PASSWORD,
  };
  return isEnabled("objstore")
    ? {
        OBJSTORE_ADMIN_URL: { peer: "objstore", port: "console" },
        OBJSTORE_URL: { peer: "objstore" },
        ...keys,
      }
    : endpoint === undefined
      ? {}
      : {
          OBJSTORE_URL: endpoint,
          ...(variables.OBJSTORE_IAM_ENDPOINT !== undefined && { OBJSTORE_IAM_URL: variables.OBJSTORE_IAM_ENDPOINT }),
          ...keys,
        };
}

/** Who makes the buckets in variant B. */
function toOperator({ settings, isEnabled }: DeployContext): Record<string, EnvValue> {
  return isEnabled("bucket-operator")
    ? {
        BUCKET_OPERATOR_URL: { peer: "bucket-operator" },
        BUCKET_OPERATOR_SECRET: { kind: "generated", name: "bucket-operator-api", bytes: 32 },
        ...(usesCloud(settings) && { BUCKETS_IN_CLOUD: "true" }),
      }
    : {};
}

/** Where workspaces have their images. An existing registry has its own administration. */
function toRegistry({ settings: { variables }, isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  return isEnabled("registry")
    ? {
        REGISTRY_ADMIN_URL: { peer: "registry" },
        REGISTRY_ADMIN_PASSWORD: variables.REGISTRY_ADMIN_PASSWORD,
        REGISTRY_HOST: new URL(publicUrl("registry")).host,
      }
    : {};
}

/** The address that people and their programs use. */
function toPublicStorage(context: DeployContext): Record<string, EnvValue> {
  const { OBJSTORE_ENDPOINT: endpoint, CLOUD_S3_URL: cloud } = context.settings.variables;
  if (usesCloud(context.settings)) {
    return { S3_ENDPOINT: cloud };
  }
  return context.isEnabled("objstore")
    ? { S3_ENDPOINT: context.publicUrl("objstore") }
    : endpoint === undefined
      ? {}
      : { S3_ENDPOINT: endpoint };
}

function toShared(context: DeployContext): Record<string, EnvValue> {
  const { settings, isEnabled } = context;
  const { variables } = settings;
  const { IDENTITY_ISSUER_URL: issuer, IDENTITY_REALM: realm } = variables;
  return {
    DATABASE_URL: { database: "url" },
    IDENTITY_REALM: realm,
    ...administratorEnv(context),
    ACCEPTED_AUDIENCES: variables.IDENTITY_ACCEPTED_AUDIENCES,
    S3_REGION: variables.OBJSTORE_REGION,
    ...(issuer !== undefined && { IDENTITY_ISSUER: issuer }),
    ...(issuer === undefined && isEnabled("identity") && identityIssuerEnv(context)),
  };
}
