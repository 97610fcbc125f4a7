import { type Component, type DeployContext, type EnvValue, type IdentityClient, listTestUsers } from "@swath/manifest";

const NAMESPACE = "um";

/** The identity provider of variant A at `identity.<domain>`, and the task that makes its users and clients. */
export const manifest: Component = {
  name: "identity",
  title: "Identity service",
  namespace: NAMESPACE,
  variants: ["A"],
  enabled: ({ variables }) => variables.REQUIRE_IDENTITY_SERVICE && variables.IDENTITY_ISSUER_URL === undefined,
  declare: () => ({ routes: [{ service: "identity", workload: "identity" }] }),
  deploy: (context) => ({
    workloads: [
      {
        name: "identity",
        namespace: NAMESPACE,
        component: "identity",
        kind: "service",
        env: {
          DATABASE_URL: { database: "url" },
          PUBLIC_URL: context.publicUrl("identity"),
          PLATFORM_DOMAIN: context.settings.domain,
        },
        ports: [{ name: "http", number: 8080 }],
        needs: ["identity-bootstrap"],
        resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
      },
      {
        name: "identity-bootstrap",
        namespace: NAMESPACE,
        component: "identity",
        entry: "bootstrap/main",
        kind: "task",
        env: toBootstrapEnv(context),
        resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "256Mi" } },
      },
    ],
  }),
};

function toBootstrapEnv({ settings, declared }: DeployContext): Record<string, EnvValue> {
  const { variables } = settings;
  const clients = declared.identityClients;
  const testUsers = listTestUsers(variables);
  return {
    DATABASE_URL: { database: "url" },
    IDENTITY_REALM: variables.IDENTITY_REALM,
    IDENTITY_ADMIN_USER: variables.IDENTITY_SERVICE_ADMIN_USER,
    IDENTITY_ADMIN_PASSWORD: variables.IDENTITY_SERVICE_ADMIN_PASSWORD,
    IDENTITY_ADMIN_CLIENT: variables.IDENTITY_SERVICE_ADMIN_CLIENT,
    IDENTITY_TEST_USERS: testUsers.map(({ name }) => name).join(","),
    ...Object.fromEntries(
      testUsers.map(({ name, password }) => [`TEST_USER_PASSWORD_${name.toUpperCase()}`, password] as const),
    ),
    IDENTITY_CLIENTS: JSON.stringify(
      clients.map(({ secret, ...client }, index) => ({
        ...client,
        ...(secret && { secretEnv: secretName(client, index) }),
      })),
    ),
    ...Object.fromEntries(
      clients.flatMap((client, index) => (client.secret ? [[secretName(client, index), client.secret] as const] : [])),
    ),
  };
}

function secretName({ clientId }: Pick<IdentityClient, "clientId">, index: number): string {
  return `CLIENT_SECRET_${index}_${clientId.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}`;
}
