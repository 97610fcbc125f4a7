import { type DeployContext, type PortalConfig, baseMapsOf, identityUrl, serverOfIssuer } from "@swath/manifest";

/** First label of the portal's host where nothing else is asked for. */
const SERVICE = "portal";

/** The portal's configuration, complete: what the deployment finds by itself, overridden key by key by PORTAL_VALUES. */
export function completeConfig({ settings, publicUrl }: DeployContext): PortalConfig {
  const { variables, domain, portalValues, variant } = settings;
  const { IDENTITY_REALM: realm, IDENTITY_ISSUER_URL: issuer } = variables;
  return {
    identity_url: issuer === undefined ? identityUrl({ settings, publicUrl }) : serverOfIssuer(issuer, realm),
    realm,
    client_id: "swath-portal",
    // Variant B has no identity API: its login service answers the same questions by SCIM and the admin API.
    identity_api_url: variant === "B" ? identityUrl({ settings, publicUrl }) : publicUrl("identity-api"),
    ades_url: `${publicUrl("ades")}/ogc-api/processes`,
    resource_catalogue_url: publicUrl("resource-catalogue"),
    data_access_url: publicUrl("data-access"),
    workspace_url: publicUrl("workspace-api"),
    workspace_docs_url: `${publicUrl("workspace-api")}/docs#`,
    images_registry_url: variables.REGISTRY_URL ?? publicUrl("registry"),
    dummy_service_url: publicUrl("dummy-service"),
    base_maps: baseMapsOf(settings),
    access_token_name: "auth_user_id",
    access_token_domain: `.${domain}`,
    refresh_token_name: "auth_refresh_token",
    refresh_token_domain: `.${domain}`,
    ...portalValues?.configMap,
  };
}

/** First label of the portal's host. */
export function serviceOf({ settings: { domain, portalValues } }: DeployContext): string {
  return portalValues?.ingress?.hosts?.[0]?.host.slice(0, -`.${domain}`.length) ?? SERVICE;
}
