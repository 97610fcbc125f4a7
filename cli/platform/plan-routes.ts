import type { PlatformSettings, Route, Workload } from "@swath/manifest";

/** A host and the workload that answers on it: what an Ingress rule or the embedded ingress needs. */
export interface PlannedRoute {
  /** `ades.<domain>`. */
  readonly host: string;
  /** Answer on `*.<host>` too. */
  readonly wildcard: boolean;
  /** Answer on `<service>.<workspace>.<domain>` too. */
  readonly perWorkspace?: boolean;
  /** First label of the host: `ades`, `ades-open`. */
  readonly service: string;
  readonly workload: string;
  readonly namespace: string;
  readonly port: string;
  /** The workload that the gatekeeper protects on this host. */
  readonly protects?: string;
  /** What the operator asked for of its Ingress. */
  readonly ingress?: Route["ingress"];
}

/** Domain of a service's hosts: that of the platform, or another one for what users put there. */
export function domainOf({ domain, variables }: PlatformSettings, holdsUserContent: boolean): string {
  return holdsUserContent ? (variables.USER_CONTENT_DOMAIN ?? domain) : domain;
}

/** Workload that stands in front of protected hosts. */
const GATEKEEPER = "gatekeeper";

/**
 * Gives every declared route its hosts: the plain one, through the gatekeeper when protection is required, and
 * `<service>-open` past it where OPEN_INGRESS is true and the service offers it.
 */
export function planRoutes(
  settings: PlatformSettings,
  routes: readonly Route[],
  workloads: readonly Workload[],
): readonly PlannedRoute[] {
  const { domain, variables } = settings;
  const toWorkload = (
    service: string,
    name: string,
    port: string,
    wildcard: boolean,
    below = domain,
  ): PlannedRoute => ({
    host: `${service}.${below}`,
    wildcard,
    service,
    workload: name,
    namespace: workloads.find((workload) => workload.name === name)?.namespace ?? "",
    port,
  });
  const hasGatekeeper = workloads.some(({ name }) => name === GATEKEEPER);
  return routes.flatMap(
    ({
      service,
      workload,
      port = "http",
      wildcard = false,
      perWorkspace,
      protection,
      offersOpenHost = false,
      ingress,
      ...route
    }) => {
      const planned: PlannedRoute[] = [];
      const more = { ...(perWorkspace === true && { perWorkspace }) };
      const below = domainOf(settings, route.holdsUserContent === true);
      if (!protection?.required) {
        planned.push({ ...toWorkload(service, workload, port, wildcard, below), ...more, ...(ingress && { ingress }) });
      } else if (hasGatekeeper) {
        planned.push({ ...toWorkload(service, GATEKEEPER, "http", wildcard), ...more, protects: workload });
      }
      // A host that is to be protected is not published at all where nobody would protect it.
      if (offersOpenHost && variables.OPEN_INGRESS) {
        planned.push(toWorkload(`${service}-open`, workload, port, false));
      }
      return planned;
    },
  );
}
