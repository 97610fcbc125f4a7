import { type Component, listDeclaredUsers } from "@swath/manifest";

export const manifest: Component = {
  name: "dummy-service",
  title: "Dummy service",
  namespace: "um",
  enabled: ({ variables }) => variables.REQUIRE_DUMMY_SERVICE,
  declare: ({ settings, settings: { variables } }) => ({
    routes: [
      {
        service: "dummy-service",
        workload: "dummy-service",
        offersOpenHost: true,
        protection: { required: variables.REQUIRE_DUMMY_SERVICE_PROTECTION, clientId: "dummy-service" },
      },
    ],
    identityClients: [
      {
        clientId: "dummy-service",
        name: "Dummy service",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: listDeclaredUsers(settings).map((user) => ({ name: user, uris: [`/${user}/*`], users: [user] })),
      },
    ],
  }),
  deploy: () => ({
    workloads: [
      {
        name: "dummy-service",
        namespace: "um",
        component: "dummy-service",
        kind: "service",
        env: {},
        ports: [{ name: "http", number: 8080 }],
        resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "256Mi" } },
      },
    ],
  }),
};
