import { secretsRoleName } from "@swath/kubernetes";
import { type Component, type DeployContext, type EnvValue, type PlatformSettings, usesCloud } from "@swath/manifest";

import { BUCKET_LABEL } from "./kubernetes/label.ts";

const NAME = "bucket-operator";
const NAMESPACE = "rm";
const GROUP = "swath.io";

/** Buckets of workspaces, and of whoever asks for some (variant B): in an infrastructure cloud, else in the platform's object storage. */
/** What callers show. */
const API_SECRET = { kind: "generated", name: "bucket-operator-api", bytes: 32 } as const;

export const manifest: Component = {
  name: NAME,
  title: "Bucket operator",
  namespace: NAMESPACE,
  variants: ["B"],
  databaseSchema: "bucket_operator",
  enabled: (settings) => settings.variables.REQUIRE_BUCKET_OPERATOR && hasStorage(settings),
  deploy: (context) => ({
    workloads: [
      {
        name: NAME,
        namespace: NAMESPACE,
        component: NAME,
        kind: "service",
        env: {
          DATABASE_URL: { database: "url" },
          API_SECRET,
          API_SECRET_ALSO: { also: API_SECRET },
          ...toStorage(context),
          WATCH_RESOURCES: { onKubernetes: "true" },
          RESOURCE_GROUP: GROUP,
          SECRETS_ROLE: { onKubernetes: secretsRoleName(context.settings.clusterName, NAMESPACE, NAME) },
        },
        ports: [{ name: "http", number: 8080 }],
        // A cloud is outside of the deployment.
        callsOutside: usesCloud(context.settings),
        resources: { requests: { cpu: "25m", memory: "96Mi" }, limits: { memory: "256Mi" } },
        clusterRole: {
          scope: "cluster",
          rules: [
            { apiGroups: [GROUP], resources: ["buckets"], verbs: ["get", "list", "watch", "patch"] },
            { apiGroups: [GROUP], resources: ["buckets/status", "buckets/finalizers"], verbs: ["patch", "update"] },
            {
              apiGroups: ["apiextensions.k8s.io"],
              resources: ["customresourcedefinitions"],
              resourceNames: [`buckets.${GROUP}`],
              verbs: ["get", "patch"],
            },
            // Of a definition that is not there yet the cluster cannot know the name.
            { apiGroups: ["apiextensions.k8s.io"], resources: ["customresourcedefinitions"], verbs: ["create"] },
          ],
        },
        secretsInNamespaces: {
          namespaces: context.settings.variables.BUCKET_SECRET_NAMESPACES?.split(",") ?? [],
          label: BUCKET_LABEL,
        },
      },
    ],
  }),
};

/** An existing object storage is nobody's to administer here. */
const hasStorage = (settings: PlatformSettings): boolean => usesCloud(settings) || settings.variables.REQUIRE_OBJSTORE;

function toStorage({ settings }: DeployContext): Readonly<Record<string, EnvValue>> {
  const { variables } = settings;
  if (usesCloud(settings)) {
    return {
      CLOUD_IDENTITY_URL: variables.CLOUD_IDENTITY_URL,
      CLOUD_S3_URL: variables.CLOUD_S3_URL,
      CLOUD_DOMAINNAME: variables.CLOUD_DOMAINNAME,
      CLOUD_USERNAME: variables.CLOUD_USERNAME,
      ...(variables.CLOUD_PASSWORD !== undefined && { CLOUD_PASSWORD: variables.CLOUD_PASSWORD }),
      ...(variables.CLOUD_MEMBERROLEID !== undefined && { CLOUD_MEMBERROLEID: variables.CLOUD_MEMBERROLEID }),
      ...(variables.CLOUD_SERVICEPROJECTID !== undefined && {
        CLOUD_SERVICEPROJECTID: variables.CLOUD_SERVICEPROJECTID,
      }),
      USER_EMAIL_PATTERN: variables.USER_EMAIL_PATTERN,
      S3_REGION: variables.OBJSTORE_REGION,
    };
  }
  return {
    OBJSTORE_ADMIN_URL: { peer: "objstore", port: "console" },
    OBJSTORE_URL: { peer: "objstore" },
    OBJSTORE_ROOT_USER: variables.OBJSTORE_ROOT_USER,
    OBJSTORE_ROOT_PASSWORD: variables.OBJSTORE_ROOT_PASSWORD,
    S3_REGION: variables.OBJSTORE_REGION,
  };
}
