import {
  type Component,
  type DeployContext,
  type EnvValue,
  type IdentityClient,
  identityAdminPassword,
  identityHostLabel,
  identityUrl,
  listTestUsers,
} from "@swath/manifest";

const NAMESPACE = "um";

/** The identity provider at `identity.<domain>`, in variant B `auth.<domain>`, and the task that makes its users and clients. */
export const manifest: Component = {
  name: "identity",
  title: "Identity service",
  namespace: NAMESPACE,
  databaseSchema: "identity",
  enabled: ({ variant, variables }) =>
    (variant === "B" ? variables.REQUIRE_LOGIN_SERVICE : variables.REQUIRE_IDENTITY_SERVICE) &&
    variables.IDENTITY_ISSUER_URL === undefined,
  declare: ({ settings }) => ({ routes: [{ service: identityHostLabel(settings), workload: "identity" }] }),
  deploy: (context) => {
    const { IDENTITY_CLIENT_ALLOW_PRIVATE: allowPrivate } = context.settings.variables;
    return {
      workloads: [
        {
          name: "identity",
          namespace: NAMESPACE,
          component: "identity",
          kind: "service",
          env: {
            DATABASE_URL: { database: "url" },
            PUBLIC_URL: identityUrl(context),
            PLATFORM_DOMAIN: context.settings.domain,
            CLIENT_REGISTRATION: context.settings.variables.IDENTITY_CLIENT_REGISTRATION,
            ...(usesDemoPassword(context) && { DEMO_PASSWORD: "true" }),
            ...(allowPrivate !== undefined && { CLIENT_ALLOW_PRIVATE: allowPrivate }),
            ...(context.settings.variant === "B" && toLoginFace(context)),
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
    };
  },
};

/** Whether the deployment itself uses its documented default password: other machines cannot reach it then. */
function usesDemoPassword({ settings }: DeployContext): boolean {
  const password = identityAdminPassword(settings);
  return password.kind === "given" && password.value === "changeme";
}

function toBootstrapEnv({ settings, declared }: DeployContext): Record<string, EnvValue> {
  const { variables } = settings;
  const clients = declared.identityClients;
  const testUsers = listTestUsers(variables);

  return {
    DATABASE_URL: { database: "url" },
    IDENTITY_REALM: variables.IDENTITY_REALM,
    IDENTITY_ADMIN_USER: variables.IDENTITY_SERVICE_ADMIN_USER,
    IDENTITY_ADMIN_PASSWORD: identityAdminPassword(settings),
    IDENTITY_ADMIN_CLIENT: variables.IDENTITY_SERVICE_ADMIN_CLIENT,
    ...(settings.variant === "B" && { LOGIN_SCOPES: "true" }),
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
      clients.flatMap((client, index): (readonly [string, EnvValue])[] =>
        client.secret
          ? [
              [secretName(client, index), client.secret],
              [`${secretName(client, index)}_ALSO`, { also: client.secret }],
            ]
          : [],
      ),
    ),
  };
}

/** The login service of variant B is a face of the same service. */
function toLoginFace({ settings: { variables } }: DeployContext): Record<string, EnvValue> {
  return {
    LOGIN_PROVIDER: variables.LOGIN_PROVIDER,
    LOGIN_REALM: variables.IDENTITY_REALM,
    LOGIN_REGISTRATION: variables.LOGIN_SERVICE_REGISTRATION,
    DECISION_POINT: String(variables.REQUIRE_PDP),
    DECISIONS: variables.PDP_DECISIONS,
    ...(variables.REQUIRE_USER_PROFILE && {
      USER_PROFILE: "true",
      ...(variables.SMTP_URL !== undefined && { SMTP_URL: variables.SMTP_URL }),
      ...(variables.SMTP_FROM !== undefined && { SMTP_FROM: variables.SMTP_FROM }),
    }),
  };
}

function secretName({ clientId }: Pick<IdentityClient, "clientId">, index: number): string {
  return `CLIENT_SECRET_${index}_${clientId.toUpperCase().replace(/[^A-Z0-9]+/g, "_")}`;
}
