import type { ServiceInfo } from "../api/service-info.ts";

/** What people see of a service; one without `health` is at another place, which the portal cannot ask. */
export type ServiceLink = ServiceInfo & { readonly isElsewhere?: true };

/** Services whose addresses the operator may set: `configMap` of the portal's values. */
const SET_BY_OPERATOR = [
  { id: "resource-catalogue", key: "resource_catalogue_url", link: "page", title: "Resource catalogue" },
  { id: "data-access", key: "data_access_url", link: "page", title: "Data access" },
  { id: "workspace-api", key: "workspace_docs_url", link: "docs", title: "Workspaces" },
  { id: "registry", key: "images_registry_url", link: "page", title: "Image registry" },
  { id: "dummy-service", key: "dummy_service_url", link: "page", title: "Dummy service" },
] as const;

/** The addresses of the portal's configuration. */
type Addresses = Readonly<Partial<Record<(typeof SET_BY_OPERATOR)[number]["key"], string>>> & {
  readonly access_token_domain: string;
};

/** The services of the deployment with the addresses that its operator gave, and those that are at another place. */
export function toServiceLinks(found: readonly ServiceInfo[], config: Addresses): readonly ServiceLink[] {
  const own = found.map((service): ServiceLink => {
    const set = SET_BY_OPERATOR.find(({ id }) => id === service.id);
    const address = set && config[set.key];
    return set === undefined || address === undefined ? service : { ...service, [set.link]: address };
  });
  const elsewhere = SET_BY_OPERATOR.flatMap(({ id, key, link, title }): ServiceLink[] => {
    const url = config[key];
    const exists = found.some((service) => service.id === id);
    return exists || url === undefined || isOwn(url, config)
      ? []
      : [{ id, title, description: "Of another platform", url, [link]: url, admin: false, isElsewhere: true }];
  });
  return [...own, ...elsewhere];
}

/** Whether an address is below the deployment's domain. */
function isOwn(url: string, { access_token_domain: domain }: Addresses): boolean {
  return !URL.canParse(url) || new URL(url).hostname.endsWith(domain);
}
