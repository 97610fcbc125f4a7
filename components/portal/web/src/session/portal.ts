import { createContext, use } from "react";

import type { BaseMapOption } from "@swath/ui";
import type { User } from "./session.ts";

/** The keys of the portal's ConfigMap, and which parts the deployment has. `GET /config.json`. */
export interface PortalConfig {
  /** Name of the deployment. */
  readonly platform: string;
  readonly identity_url?: string;
  readonly realm: string;
  readonly client_id: string;
  readonly identity_api_url?: string;
  readonly ades_url?: string;
  readonly resource_catalogue_url?: string;
  readonly data_access_url?: string;
  readonly workspace_url?: string;
  readonly workspace_docs_url?: string;
  readonly images_registry_url?: string;
  readonly dummy_service_url?: string;
  /** Base maps of other services that the operator allows. */
  readonly base_maps?: readonly BaseMapOption[];
  /** `.<domain>` of the deployment. */
  readonly access_token_domain: string;
  /** Services of this deployment that have a host: `ades`, `workspace-api`, … */
  readonly services: readonly string[];
  /** Whether anybody can log in. */
  readonly login: boolean;
  /** Whether workspaces have files that the portal can show. */
  readonly files: boolean;
}

/** What every page may count on: somebody is logged in. */
export interface Portal {
  readonly user: User;
  readonly config: PortalConfig;
}

export const PortalContext = createContext<Portal | undefined>(undefined);

export function usePortal(): Portal {
  const portal = use(PortalContext);
  if (portal === undefined) {
    throw new Error("usePortal is used outside of the layout");
  }
  return portal;
}
