/** Keys of `configMap` in the portal's chart values, all texts. */
export const PORTAL_CONFIG_KEYS = [
  "identity_url",
  "realm",
  "client_id",
  "identity_api_url",
  "ades_url",
  "resource_catalogue_url",
  "data_access_url",
  "workspace_url",
  "workspace_docs_url",
  "images_registry_url",
  "dummy_service_url",
  "base_maps",
  "access_token_name",
  "access_token_domain",
  "refresh_token_name",
  "refresh_token_domain",
] as const;

export type PortalConfigKey = (typeof PORTAL_CONFIG_KEYS)[number];

/** Addresses and names that the portal works with. */
export type PortalConfig = Readonly<Record<PortalConfigKey, string>>;

/** How the portal is published. */
export interface PortalIngress {
  readonly enabled: boolean;
  readonly annotations: Readonly<Record<string, string>>;
  readonly hosts: readonly {
    readonly host: string;
    readonly paths: readonly { readonly path: string; readonly pathType: string }[];
  }[];
  readonly tls: readonly IngressTls[];
}

/** A certificate of an Ingress and the hosts it is for. */
export interface IngressTls {
  readonly secretName: string;
  readonly hosts: readonly string[];
}

/** What the operator's file PORTAL_VALUES overrides, key by key. */
export interface PortalValues {
  readonly configMap?: Partial<PortalConfig>;
  readonly ingress?: Partial<PortalIngress>;
}
