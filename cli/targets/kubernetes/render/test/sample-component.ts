import type { Component } from "@swath/manifest";

/** A component of tests that uses everything a manifest can say. */
export const sampleComponent: Component = {
  name: "sample",
  title: "Sample",
  namespace: "um",
  databaseSchema: "sample",
  enabled: () => true,
  declare: () => ({ routes: [{ service: "sample", workload: "sample", wildcard: true }] }),
  deploy: ({ settings: { variables } }) => ({
    workloads: [
      {
        name: "sample",
        namespace: "um",
        component: "sample",
        kind: "service",
        replicas: 2,
        env: {
          DATABASE_URL: { database: "url" },
          ROOT_PASSWORD: variables.OBJSTORE_ROOT_PASSWORD,
          CONNECTION: { secret: "sample-keys", key: "connection" },
          MODE: { configMap: "sample", key: "mode" },
          DUMMY_SERVICE_URL: { peer: "dummy-service" },
          CACHE_DIR: { volume: "sample-cache" },
          PATTERN: "$(HOME)",
        },
        ports: [{ name: "http", number: 8080 }],
        mounts: [{ volume: "sample-cache", path: "/var/cache/sample" }],
        clusterRole: { scope: "namespace", rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] },
        resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
      },
      {
        name: "sample-setup",
        namespace: "um",
        component: "sample",
        kind: "task",
        entry: "setup",
        env: { MODE: "once" },
        needs: ["sample"],
        resources: { requests: { cpu: "10m", memory: "64Mi" }, limits: { memory: "128Mi" } },
      },
    ],
    volumes: [
      {
        name: "sample-cache",
        namespace: "um",
        size: "1Gi",
        storageClass: variables.DEFAULT_STORAGE,
        accessMode: "ReadWriteMany",
        backup: { kind: "nothing", because: "it is an example" },
      },
    ],
    secrets: [
      {
        name: "sample-keys",
        namespace: "um",
        entries: {
          connection: {
            kind: "joined",
            parts: [
              "s3://",
              variables.OBJSTORE_ROOT_PASSWORD,
              ":",
              variables.IDENTITY_SERVICE_DEFAULT_SECRET,
              "@",
              { peer: "sample" },
            ],
          },
        },
      },
    ],
    configMaps: [{ name: "sample", namespace: "um", data: { mode: "yes" } }],
  }),
};
