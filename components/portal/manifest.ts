import type { Component, DeployContext, EnvValue, Route } from "@swath/manifest";
import { PORTAL_CONFIG_KEYS, administratorEnv, identityUrl, issuerAt, usesCloud } from "@swath/manifest";

import { KNOWN_SERVICES } from "./services/known-services.ts";
import { completeConfig, serviceOf } from "./values.ts";

const NAMESPACE = "demo";
const CONFIG_MAP = "portal";
const PLATFORM_MAP = "portal-platform";

/** The platform in a browser, at `portal.<domain>`. */
export const manifest: Component = {
  name: "portal",
  title: "Portal",
  namespace: NAMESPACE,
  // It has no tables of its own: its role may search the audit trail.
  databaseSchema: "portal",
  enabled: ({ variables }) => variables.REQUIRE_PORTAL,
  declare: (context) => {
    const service = serviceOf(context);
    const url = context.publicUrl(service);
    const { enabled = true, annotations, tls } = context.settings.portalValues?.ingress ?? {};
    return {
      routes: enabled
        ? [
            {
              service,
              workload: "portal",
              ingress: { ...(annotations && { annotations }), ...(tls && tls.length > 0 && { tls }) },
            },
          ]
        : [],
      identityClients: [
        {
          // Without a secret: a public client.
          clientId: completeConfig(context).client_id,
          name: "Portal",
          description: "Logging in to the platform with a browser",
          redirectUris: [
            `${url}/auth/callback`,
            `${url}/auth/logged-out`,
            ...(context.settings.variant === "B" ? [`${url}/oidc/callback/`] : []),
          ],
          webOrigins: [url],
          tokensForPlatform: true,
        },
      ],
    };
  },
  deploy: (context) => {
    const { settings } = context;
    return {
      workloads: [
        {
          name: "portal",
          namespace: NAMESPACE,
          component: "portal",
          kind: "service",
          env: {
            PUBLIC_URL: context.publicUrl(serviceOf(context)),
            ...Object.fromEntries(
              PORTAL_CONFIG_KEYS.map((key) => [key.toUpperCase(), { configMap: CONFIG_MAP, key }] as const),
            ),
            ...toIdentity(context),
            ...administratorEnv(context),
            ...(context.isEnabled("postgres") && { DATABASE_URL: { database: "url" } as const }),
            WORKSPACE_CREATION: settings.variables.WORKSPACE_CREATION,
            ...toServices(context),
            ...toStorage(context),
            PLATFORM_CONFIGURATION: { configMap: PLATFORM_MAP, key: "configuration.json" },
            PLATFORM_STATUS: { platform: "status" },
            PLATFORM_NAME: settings.clusterName,
          },
          ports: [{ name: "http", number: 8080 }],
          resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "384Mi" } },
          clusterRole: {
            scope: "cluster",
            rules: [{ apiGroups: [""], resources: ["namespaces"], verbs: ["list"] }],
          },
          deploymentRules: [{ apiGroups: [""], resources: ["pods", "pods/log"], verbs: ["get", "list"] }],
        },
      ],
      configMaps: [
        { name: CONFIG_MAP, namespace: NAMESPACE, data: { ...completeConfig(context) } },
        {
          name: PLATFORM_MAP,
          namespace: NAMESPACE,
          data: { "configuration.json": JSON.stringify(settings.shown ?? []) },
        },
      ],
    };
  },
};

/** Whose logins the portal takes: those of its own configuration's identity service. */
function toIdentity(context: DeployContext): Readonly<Record<string, EnvValue>> {
  const { settings, isEnabled } = context;
  const { identity_url: url, realm } = completeConfig(context);
  const { IDENTITY_ISSUER_URL: issuer, IDENTITY_ACCEPTED_AUDIENCES: audiences } = settings.variables;
  const overridden = settings.portalValues?.configMap;
  const isDeployed = isEnabled("identity") && url === identityUrl(context);
  if (issuer !== undefined && overridden?.identity_url === undefined && overridden?.realm === undefined) {
    return { IDENTITY_ISSUER: issuer, ACCEPTED_AUDIENCES: audiences };
  }
  if (!isDeployed && overridden?.identity_url === undefined) {
    return {};
  }
  return {
    IDENTITY_ISSUER: issuerAt(settings.variant, url, realm),
    // An identity service that the operator named instead knows nothing of this deployment's audience.
    ACCEPTED_AUDIENCES: isDeployed ? audiences : `account,${audiences}`,
    ...(isDeployed && { IDENTITY_INTERNAL_URL: { peer: "identity" } as const }),
    ...(settings.variant === "B" && { ACCEPT_ID_TOKENS: "true" }),
  };
}

/** The services that people see, where their health is asked for and where requests to them go in. */
function toServices({ declared, isEnabled, publicUrl, host }: DeployContext): Readonly<Record<string, EnvValue>> {
  const routes = KNOWN_SERVICES.flatMap(({ id }) => declared.routes.find(({ service }) => service === id) ?? []);
  return {
    PORTAL_SERVICES: JSON.stringify(
      routes.map(({ service }) => ({
        id: service,
        url: publicUrl(service),
        host: host(service),
        upstream: variableOf("UPSTREAM", service),
        health: variableOf("HEALTH", service),
      })),
    ),
    ...Object.fromEntries(
      routes.flatMap((route) => [
        [variableOf("UPSTREAM", route.service), upstreamOf(route, isEnabled("gatekeeper"))] as const,
        [variableOf("HEALTH", route.service), peerOf(route)] as const,
      ]),
    ),
  };
}

/** Protected services are asked through the gatekeeper, so that its rules hold for the portal as for everybody. */
function upstreamOf(route: Route, hasGatekeeper: boolean): EnvValue {
  return route.protection?.required === true && hasGatekeeper ? { peer: "gatekeeper" } : peerOf(route);
}

function peerOf({ workload, port }: Route): EnvValue {
  return { peer: workload, ...(port !== undefined && { port }) };
}

/** Where the files of workspaces are, on the way inside the deployment. */
function toStorage({ isEnabled, settings }: DeployContext): Readonly<Record<string, EnvValue>> {
  const { variables } = settings;
  if (usesCloud(settings)) {
    return { S3_ENDPOINT: variables.CLOUD_S3_URL };
  }
  return isEnabled("objstore")
    ? { S3_ENDPOINT: { peer: "objstore" } }
    : variables.OBJSTORE_ENDPOINT !== undefined
      ? { S3_ENDPOINT: variables.OBJSTORE_ENDPOINT }
      : {};
}

function variableOf(prefix: string, name: string): string {
  return `${prefix}_${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_")}`;
}
