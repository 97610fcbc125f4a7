import { type Component, type DeployContext, identityIssuerEnv } from "@swath/manifest";

import { PROCESS_ENVIRONMENT } from "./process-environment.ts";

/** Object storage: `objstore.<domain>` speaks S3 (also below it, a host a bucket), `objstore-console.<domain>` is for people. */
export const manifest: Component = {
  name: "objstore",
  title: "Object storage",
  namespace: "rm",
  databaseSchema: "objstore",
  enabled: ({ variables }) => variables.REQUIRE_OBJSTORE && variables.OBJSTORE_ENDPOINT === undefined,
  declare: ({ publicUrl }) => ({
    identityClients: [
      {
        // Without a secret: a public client.
        clientId: "objstore-console",
        name: "Object storage console",
        description: "Logging in to the console of the object storage",
        redirectUris: [`${publicUrl("objstore-console")}/api/login/callback`],
        webOrigins: [publicUrl("objstore-console")],
        backChannelLogoutUri: `${publicUrl("objstore-console")}/api/login/back-channel`,
      },
    ],
    routes: [
      { service: "objstore", workload: "objstore", wildcard: true, holdsUserContent: true },
      { service: "objstore-console", workload: "objstore", port: "console" },
    ],
  }),
  deploy: (context) => {
    const { variables } = context.settings;
    return {
      workloads: [
        {
          name: "objstore",
          namespace: "rm",
          component: "objstore",
          kind: "service",
          env: {
            ...PROCESS_ENVIRONMENT,
            DATA_DIR: { volume: "objstore" },
            PUBLIC_URL: context.publicUrl("objstore"),
            CONSOLE_URL: context.publicUrl("objstore-console"),
            OBJSTORE_ROOT_USER: variables.OBJSTORE_ROOT_USER,
            OBJSTORE_ROOT_PASSWORD: { eitherOf: variables.OBJSTORE_ROOT_PASSWORD, which: "first" },
            OBJSTORE_ROOT_PASSWORD_ALSO: { eitherOf: variables.OBJSTORE_ROOT_PASSWORD, which: "second" },
            OBJSTORE_REGION: variables.OBJSTORE_REGION,
            OBJSTORE_ENCRYPTION_KEYS: { secret: "objstore-encryption", key: "keys" },
            ...(variables.OBJSTORE_EVENT_TARGETS !== undefined && {
              OBJSTORE_EVENT_TARGETS: { secret: "objstore-events", key: "targets" },
            }),
            ...(context.isEnabled("registration-api") && {
              REGISTRATION_EVENTS_URL: { peer: "registration-api", port: "internal" },
              REGISTRATION_EVENTS_SECRET: { kind: "generated", name: "registration-api-internal", bytes: 32 } as const,
            }),
            ...(variables.OBJSTORE_SNAPSHOTS !== undefined && { OBJSTORE_SNAPSHOTS: variables.OBJSTORE_SNAPSHOTS }),
            OBJSTORE_DEFAULT_OWNERSHIP: variables.OBJSTORE_DEFAULT_OWNERSHIP,
            OBJSTORE_SIGNATURE_V2: String(variables.OBJSTORE_SIGNATURE_V2),
            ...toIdentity(context),
            // Objects are there without it: nothing waits for the database.
            ...(context.isEnabled("postgres") && { AUDIT_DATABASE_URL: { database: "url" } as const }),
          },
          startsWithoutDatabase: true,
          ports: [
            { name: "http", number: 9000 },
            { name: "console", number: 9001 },
          ],
          mounts: [{ volume: "objstore", path: "/data" }],
          strategy: "recreate",
          resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "512Mi" } },
        },
      ],
      volumes: [
        {
          name: "objstore",
          namespace: "rm",
          size: variables.OBJSTORE_STORAGE_SIZE,
          storageClass: variables.OBJSTORE_STORAGE,
          accessMode: variables.OBJSTORE_STORAGE_ACCESS,
          backup: {
            kind: "program",
            component: "objstore",
            entry: "backup",
            env: { DATA_DIR: { volume: "objstore" } },
          },
        },
      ],
      secrets: [
        { name: "objstore-root", namespace: "rm", entries: { password: variables.OBJSTORE_ROOT_PASSWORD } },
        ...(variables.OBJSTORE_EVENT_TARGETS === undefined
          ? []
          : [{ name: "objstore-events", namespace: "rm", entries: { targets: variables.OBJSTORE_EVENT_TARGETS } }]),
        { name: "objstore-encryption", namespace: "rm", entries: { keys: variables.OBJSTORE_ENCRYPTION_KEYS } },
      ],
    };
  },
};

/** Whose tokens may be exchanged for temporary credentials: the deployed identity service, an existing issuer, or nobody's. */
function toIdentity(context: DeployContext) {
  const { settings, isEnabled } = context;
  const { IDENTITY_ISSUER_URL: issuer } = settings.variables;
  const ACCEPTED_AUDIENCES = `objstore,objstore-console,${settings.variables.IDENTITY_ACCEPTED_AUDIENCES}`;
  if (issuer !== undefined) {
    return { IDENTITY_ISSUER: issuer, ACCEPTED_AUDIENCES };
  }
  return isEnabled("identity")
    ? {
        ...identityIssuerEnv(context),
        ACCEPTED_AUDIENCES,
      }
    : undefined;
}
