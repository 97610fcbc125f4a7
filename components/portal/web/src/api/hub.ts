import { type HubId, requestService } from "./services.ts";

/** A server of a user, as JupyterHub's API has it. */
export interface HubServer {
  readonly name: string;
  readonly ready: boolean;
  readonly pending: "spawn" | "stop" | null;
  readonly stopped: boolean;
  readonly started: string | null;
  readonly user_options: { readonly profile?: string };
  /** Where it is opened, on its own host. */
  readonly swath?: { readonly opens: string };
  readonly full_url: string;
}

export const findHub = (services: readonly string[]): HubId | undefined =>
  (["application-hub", "pde"] as const).find((id) => services.includes(id));

/** The servers of who is logged in. */
export async function listServers(hub: HubId): Promise<readonly HubServer[]> {
  const { servers = {} } = await requestService<{ servers?: Readonly<Record<string, HubServer>> }>(
    hub,
    "/hub/api/user",
  );
  return Object.values(servers);
}
