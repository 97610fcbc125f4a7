import { type Component, administratorAudience } from "@swath/manifest";

/** The identity API at `identity-api.<domain>`: for administrators. */
export const manifest: Component = {
  name: "identity-api",
  title: "Identity API",
  namespace: "um",
  variants: ["A"],
  enabled: ({ variables }) => variables.REQUIRE_IDENTITY_SERVICE && variables.IDENTITY_ISSUER_URL === undefined,
  declare: ({ settings, settings: { variables } }) => ({
    routes: [
      {
        service: "identity-api",
        workload: "identity-api",
        protection: {
          required: true,
          clientId: "identity-api",
          openPaths: ["^/$", "^/docs(/.*)?$", "^/openapi\\.json$", "^/health/.*$"],
        },
      },
    ],
    identityClients: [
      {
        clientId: "identity-api",
        name: "Identity API",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: [{ name: "admin", uris: ["/*"], ...administratorAudience(settings) }],
      },
    ],
  }),
  deploy: ({ settings: { variables } }) => ({
    workloads: [
      {
        name: "identity-api",
        namespace: "um",
        component: "identity-api",
        kind: "service",
        env: { IDENTITY_INTERNAL_URL: { peer: "identity" }, IDENTITY_REALM: variables.IDENTITY_REALM },
        ports: [{ name: "http", number: 8080 }],
        resources: { requests: { cpu: "25m", memory: "80Mi" }, limits: { memory: "256Mi" } },
      },
    ],
  }),
};
