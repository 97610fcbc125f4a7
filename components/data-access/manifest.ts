import {
  type Component,
  type DeployContext,
  type EnvValue,
  baseMapsOf,
  cloudDataStorageEnv,
  objectStorageEnv,
} from "@swath/manifest";

import { PROCESS_ENVIRONMENT } from "./process-environment.ts";

const NAMESPACE = "rm";
const SERVICE = "data-access";
/** Rendered pictures, in the deployment's own object storage only: an existing one is not given buckets unasked. */
const TILE_BUCKET = "data-access-tiles";

/** Maps, tiles and values of what the catalogue has, at `data-access.<domain>`. */
export const manifest: Component = {
  name: SERVICE,
  title: "Data access",
  namespace: NAMESPACE,
  enabled: ({ variables }) => variables.REQUIRE_DATA_ACCESS,
  declare: ({ settings: { variables } }) => ({
    routes: [
      {
        service: SERVICE,
        workload: SERVICE,
        perWorkspace: true,
        offersOpenHost: true,
        protection: {
          required: variables.REQUIRE_DATA_ACCESS_PROTECTION,
          clientId: SERVICE,
          // Public collections are for everybody. The catalogue decides about each record, by the token that is handed on to it.
          openPaths: ["^/"],
        },
      },
    ],
    identityClients: [
      {
        clientId: SERVICE,
        name: "Data access",
        secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
        resources: [{ name: "data", uris: ["/*"], authenticated: true }],
      },
    ],
  }),
  deploy: (context) => ({
    workloads: [
      {
        name: SERVICE,
        namespace: NAMESPACE,
        component: SERVICE,
        kind: "service",
        env: {
          ...PROCESS_ENVIRONMENT,
          ...toCatalogue(context),
          ...objectStorageEnv(context),
          ...cloudDataStorageEnv(context.settings),
          ...(context.settings.variables.DATA_ACCESS_EXTERNAL_ITEMS && { EXTERNAL_ITEMS: "true" }),
          ...(baseMapsOf(context.settings) !== "" && { BASE_MAPS: baseMapsOf(context.settings) }),
          ...(context.isEnabled("objstore") && { TILE_CACHE_BUCKET: TILE_BUCKET }),
        },
        ports: [{ name: "http", number: 8080 }],
        resources: { requests: { cpu: "50m", memory: "256Mi" }, limits: { memory: "1Gi" } },
        callsOutside: true,
      },
    ],
  }),
};

function toCatalogue({ isEnabled, publicUrl }: DeployContext): Record<string, EnvValue> {
  return isEnabled("resource-catalogue")
    ? {
        CATALOGUE_URL: { peer: "resource-catalogue" },
        CATALOGUE_FEED_KEY: { kind: "generated", name: "resource-catalogue-feed", bytes: 32 },
        CATALOGUE_PUBLIC_URL: publicUrl("resource-catalogue"),
      }
    : {};
}
