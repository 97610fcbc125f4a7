import type { DeployContext, IngressTls, PortalConfig, PortalIngress } from "@swath/manifest";

/** The portal's configuration, complete: what the deployment finds by itself, overridden key by key by PORTAL_VALUES. */
export interface EffectiveValues {
  readonly configMap: PortalConfig;
  readonly ingress: PortalIngress;
}

/** First label of the portal's host where nothing else is asked for. */
const SERVICE = "portal";

export function completeValues(context: DeployContext): EffectiveValues {
  const { configMap, ingress } = context.settings.portalValues ?? {};
  return { configMap: { ...findConfig(context), ...configMap }, ingress: { ...findIngress(context), ...ingress } };
}

function findConfig({ settings, publicUrl }: DeployContext): PortalConfig {
  const { variables, domain } = settings;
  const { IDENTITY_REALM: realm, IDENTITY_ISSUER_URL: issuer } = variables;
  const realmPath = `/realms/${realm}`;
  return {
    identity_url: issuer === undefined ? publicUrl("identity") : issuer.replace(realmPath, ""),
    realm,
    client_id: "swath-portal",
    identity_api_url: publicUrl("identity-api"),
    ades_url: `${publicUrl("ades")}/ogc-api/processes`,
    resource_catalogue_url: publicUrl("resource-catalogue"),
    data_access_url: publicUrl("data-access"),
    workspace_url: publicUrl("workspace-api"),
    workspace_docs_url: `${publicUrl("workspace-api")}/docs#`,
    images_registry_url: publicUrl("registry"),
    dummy_service_url: publicUrl("dummy-service"),
    access_token_name: "auth_user_id",
    access_token_domain: `.${domain}`,
    refresh_token_name: "auth_refresh_token",
    refresh_token_domain: `.${domain}`,
  };
}

function findIngress({ settings, host }: DeployContext): PortalIngress {
  const { USE_TLS: useTls, TLS_CLUSTER_ISSUER: issuer } = settings.variables;
  const hosts = settings.portalValues?.ingress?.hosts ?? [
    { host: host(SERVICE), paths: [{ path: "/", pathType: "Prefix" }] },
  ];
  return {
    enabled: true,
    annotations: {
      "kubernetes.io/ingress.class": "nginx",
      "nginx.ingress.kubernetes.io/ssl-redirect": String(useTls),
      ...(useTls && { "cert-manager.io/cluster-issuer": issuer }),
    },
    hosts,
    tls: useTls ? [toTls(hosts.map((entry) => entry.host))] : [],
  };
}

function toTls(hosts: readonly string[]): IngressTls {
  return { secretName: "portal-tls", hosts };
}

/** First label of the portal's host. */
export function serviceOf({ ingress: { hosts } }: EffectiveValues, domain: string): string {
  return hosts[0]?.host.slice(0, -`.${domain}`.length) ?? SERVICE;
}
