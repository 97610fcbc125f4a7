import {
  type Component,
  type DeployContext,
  type EnvValue,
  type PlatformSecret,
  type Variables,
  acceptedTokensEnv,
  cloudDataStorageEnv,
  objectStorageEnv,
} from "@swath/manifest";

import { PROCESS_ENVIRONMENT } from "./process-environment.ts";

const NAMESPACE = "rm";
const SERVICE = "registration-api";

/** Opens the internal ports that services of the deployment ask each other on. */
const secretOf = (service: string): PlatformSecret => ({ kind: "generated", name: `${service}-internal`, bytes: 32 });

/**
 * Registration belongs to the catalogue: its workers carry out what workspaces, jobs, harvesters and buckets ask for on the internal
 * port. The public API at `registration-api.<domain>` is optional.
 */
export const manifest: Component = {
  name: SERVICE,
  title: "Registration API",
  namespace: NAMESPACE,
  // What is registered is written to the catalogue.
  databaseSchema: "registration",
  enabled: ({ variables }) => variables.REQUIRE_RESOURCE_CATALOGUE,
  declare: ({ settings: { variables } }) =>
    variables.REQUIRE_REGISTRATION_API
      ? {
          routes: [
            {
              service: SERVICE,
              workload: SERVICE,
              offersOpenHost: true,
              protection: {
                required: variables.REGISTRATION_API_PROTECTION,
                clientId: SERVICE,
                openPaths: [
                  "^/$",
                  "^/docs(/.*)?$",
                  "^/openapi\\.json$",
                  "^/probe$",
                  "^/openapi$",
                  "^/conformance$",
                  "^/processes(/[^/]+)?$",
                ],
              },
            },
          ],
          identityClients: [
            {
              clientId: SERVICE,
              name: "Registration API",
              secret: variables.IDENTITY_GATEKEEPER_CLIENT_SECRET,
              // The API decides who is an operator, and shows everybody what they asked for themselves.
              resources: [{ name: "registration", uris: ["/*"], authenticated: true }],
            },
          ],
        }
      : {},
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
            DATABASE_URL: { database: "url" },
            ...(variables.REQUIRE_REGISTRATION_API && {
              PUBLIC_URL: context.publicUrl(SERVICE),
              CATALOGUE_PUBLIC_URL: context.publicUrl("resource-catalogue"),
              AUTHENTICATION: variables.REGISTRATION_API_PROTECTION ? "required" : "optional",
              ...(variables.OPEN_INGRESS && { OPEN_HOST: context.host(`${SERVICE}-open`) }),
            }),
            INTERNAL_SECRET: secretOf(SERVICE),
            INTERNAL_SECRET_ALSO: { also: secretOf(SERVICE) },
            ...acceptedTokensEnv(context),
          },
          ports: [
            { name: "http", number: 8080 },
            { name: "internal", number: 8081 },
          ],
          resources: { requests: { cpu: "10m", memory: "96Mi" }, limits: { memory: "256Mi" } },
        },
        {
          name: "registrar",
          namespace: NAMESPACE,
          component: SERVICE,
          entry: "worker/main",
          kind: "service",
          env: {
            ...PROCESS_ENVIRONMENT,
            DATABASE_URL: { database: "url" },
            CATALOGUE_URL: { peer: "resource-catalogue", port: "internal" },
            CATALOGUE_PUBLIC_URL: context.publicUrl("resource-catalogue"),
            CATALOGUE_SECRET: secretOf("resource-catalogue"),
            ...toPrivateHosts(variables),
            ...toPublicPages(context),
            ...objectStorageEnv(context),
            ...(context.isEnabled("objstore") && { OBJSTORE_EVENT_TARGET: "swath-registration" }),
            ...toCloudData(context),
          },
          callsOutside: true,
          resources: { requests: { cpu: "25m", memory: "192Mi" }, limits: { memory: "1280Mi" } },
        },
      ],
    };
  },
};

/** Private hosts that may be read: those that the operator allows, and the provider's catalogue, which the operator named. */
function toPrivateHosts(variables: Variables): Record<string, EnvValue> {
  const { CLOUDDATA_DATA_SPECIFICATION: isOn, CLOUDDATA_CATALOGUE_URL: url } = variables;
  const hosts = [
    ...(variables.REGISTRATION_ALLOW_PRIVATE?.split(",") ?? []),
    ...(isOn ? [new URL(url).hostname.replace(/^\[|\]$/g, "")] : []),
  ];
  return hosts.length === 0 ? {} : { ALLOW_PRIVATE: hosts.join(",") };
}

/** Addresses that records name, and the services whose public addresses are read from inside. */
function toPublicPages({ settings, isEnabled, publicUrl, host }: DeployContext): Record<string, EnvValue> {
  return {
    CATALOGUE_API_URL: { peer: "resource-catalogue" },
    ...(settings.variables.OPEN_INGRESS && { CATALOGUE_OPEN_HOST: host("resource-catalogue-open") }),
    ...(isEnabled("data-access") && { DATA_ACCESS_PUBLIC_URL: publicUrl("data-access") }),
    ...(isEnabled("portal") && { PORTAL_PUBLIC_URL: publicUrl("portal") }),
    ...(isEnabled("ades") && {
      ADES_URL: { peer: "ades" },
      ADES_PUBLIC_URL: publicUrl("ades"),
      ...(settings.variables.OPEN_INGRESS && { ADES_OPEN_HOST: host("ades-open") }),
    }),
  };
}

/** A provider's data offering: its storage and catalogue, and what of it is harvested. */
function toCloudData({ settings }: DeployContext): Record<string, EnvValue> {
  const { variables } = settings;
  return {
    ...cloudDataStorageEnv(settings),
    CLOUDDATA: String(variables.CLOUDDATA_DATA_SPECIFICATION),
    ...(variables.CLOUDDATA_DATA_SPECIFICATION && {
      CLOUDDATA_CATALOGUE_URL: variables.CLOUDDATA_CATALOGUE_URL,
      CLOUDDATA_CATALOGUE_TYPE: variables.CLOUDDATA_CATALOGUE_TYPE,
      CLOUDDATA_AREA: variables.CLOUDDATA_AREA,
      CLOUDDATA_TIME: variables.CLOUDDATA_TIME,
      CLOUDDATA_SCHEDULE: variables.CLOUDDATA_SCHEDULE,
    }),
  };
}
