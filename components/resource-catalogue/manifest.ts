import { type Component, type DeployContext, type EnvValue, acceptedTokensEnv } from "@swath/manifest";

import { PROCESS_ENVIRONMENT } from "./process-environment.ts";

const NAMESPACE = "rm";
const SERVICE = "resource-catalogue";

/** What other services show that act for an operator. */
const INTERNAL_SECRET = { kind: "generated", name: "resource-catalogue-internal", bytes: 32 } as const;
/** What services show that read for a user. */
const DELEGATE_SECRET = { kind: "generated", name: "resource-catalogue-delegate", bytes: 32 } as const;
/** What services show that follow the changes of all collections. */
const FEED_KEY = { kind: "generated", name: "resource-catalogue-feed", bytes: 32 } as const;

/** The resource catalogue at `resource-catalogue.<domain>`. */
export const manifest: Component = {
  name: SERVICE,
  title: "Resource catalogue",
  namespace: NAMESPACE,
  databaseSchema: "catalogue",
  enabled: ({ variables }) => variables.REQUIRE_RESOURCE_CATALOGUE,
  declare: ({ settings: { variables } }) => ({
    routes: [
      {
        service: SERVICE,
        workload: SERVICE,
        perWorkspace: true,
        offersOpenHost: true,
        protection: {
          required: variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION,
          clientId: SERVICE,
          // Public collections are for everybody. The gatekeeper says who asks; the catalogue decides about each record.
          openPaths: ["^/"],
        },
      },
    ],
    identityClients: [
      {
        clientId: SERVICE,
        name: "Resource catalogue",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: [{ name: "catalogue", uris: ["/*"], authenticated: true }],
      },
    ],
  }),
  deploy: (context) => {
    const { variables } = context.settings;
    return {
      workloads: [
        {
          name: SERVICE,
          namespace: NAMESPACE,
          component: SERVICE,
          kind: "service",
          env: {
            ...PROCESS_ENVIRONMENT,
            DATABASE_URL: { database: "url" },
            PUBLIC_URL: context.publicUrl(SERVICE),
            PLATFORM_DOMAIN: context.settings.domain,
            AUTHENTICATION: variables.REQUIRE_RESOURCE_CATALOGUE_PROTECTION ? "required" : "optional",
            ...(variables.OPEN_INGRESS && { OPEN_HOST: context.host(`${SERVICE}-open`) }),
            INTERNAL_SECRET,
            INTERNAL_SECRET_ALSO: { also: INTERNAL_SECRET },
            DELEGATE_SECRET,
            DELEGATE_SECRET_ALSO: { also: DELEGATE_SECRET },
            FEED_KEY,
            FEED_KEY_ALSO: { also: FEED_KEY },
            ...acceptedTokensEnv(context),
            ...toWorkspaces(context),
            ...toStorage(context),
            ...(context.isEnabled("data-access") && { DATA_ACCESS_PUBLIC_URL: context.publicUrl("data-access") }),
          },
          ports: [
            { name: "http", number: 8080 },
            { name: "internal", number: 8081 },
          ],
          // A transaction of CSW with 26 MB of records takes 600 MB.
          resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "1Gi" } },
        },
      ],
    };
  },
};

function toWorkspaces({ isEnabled }: DeployContext): Record<string, EnvValue> {
  return isEnabled("workspace-api")
    ? {
        WORKSPACE_URL: { peer: "workspace-api", port: "internal" },
        WORKSPACE_SECRET: { kind: "generated", name: "workspace-api-internal", bytes: 32 },
      }
    : {};
}

/** What signs links to private assets. */
function toStorage({ settings: { variables }, isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  const endpoint = isEnabled("objstore") ? publicUrl("objstore") : variables.OBJSTORE_ENDPOINT;
  return endpoint === undefined
    ? {}
    : {
        S3_PUBLIC_URL: endpoint,
        S3_REGION: variables.OBJSTORE_REGION,
        S3_ACCESS_KEY: variables.OBJSTORE_ROOT_USER,
        S3_SECRET_KEY: variables.OBJSTORE_ROOT_PASSWORD,
      };
}
