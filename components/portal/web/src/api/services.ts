import { RequestError, request, requestJson } from "@swath/ui";

import type { ServiceInfo } from "./service-info.ts";

export type { ServiceInfo };

type Options = Parameters<typeof request>[1];

/** Services that pages may ask, in the name of who is logged in. */
export type ServiceId = "ades" | "workspace-api" | "resource-catalogue" | "data-access" | "registration-api" | HubId;

/** The application hub: `pde` in a deployment of variant B. */
export type HubId = "application-hub" | "pde";

/**
 * Address of a path of a service, on the portal's own host: the portal's server adds the access token and hands everything else
 * through, streams too. Good for `fetch`, `EventSource` and map sources alike.
 */
export function serviceUrl(service: ServiceId, path: string): string {
  return `/api/services/${service}${path}`;
}

const TITLES: Readonly<Record<ServiceId, string>> = {
  ades: "Processing",
  "workspace-api": "Workspaces",
  "resource-catalogue": "Resource catalogue",
  "data-access": "Data access",
  "registration-api": "Registration",
  "application-hub": "Application hub",
  pde: "Development environment",
};

/** Asks a service for JSON. @throws {RequestError}; status 502 and `problem.service` when the service is down */
export async function requestService<T>(service: ServiceId, path: string, options?: Options): Promise<T> {
  try {
    return await requestJson<T>(serviceUrl(service, path), options);
  } catch (error) {
    if (error instanceof RequestError && error.status === 504) {
      // Who waits in vain is told for whom.
      throw new RequestError(504, { ...error.problem, title: `${TITLES[service]} does not answer` }, { cause: error });
    }
    throw error;
  }
}

/** As `askService`, but gives the answer itself, with its headers. @throws {RequestError} */
export function callService(service: ServiceId, path: string, options?: Options): Promise<Response> {
  return request(serviceUrl(service, path), options);
}

/** What is deployed, and how it does at the moment. */
export async function listServices(): Promise<readonly ServiceInfo[]> {
  return (await requestJson<{ services: readonly ServiceInfo[] }>("/api/services")).services;
}
