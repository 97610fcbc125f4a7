import { METHOD_RESOURCE_TYPE, type Resource, permissionScope } from "@swath/auth";
import { realmPath } from "@swath/manifest/realm-paths";
import type { Logger, Peer } from "@swath/service";

import type { ClientCredentials } from "../tokens/credentials.ts";
import type { TokenEndpoint } from "../tokens/token-endpoint.ts";

/** Makes permission tickets of UMA 2.0 (Federated Authorization §4) for requests that were refused. */
export interface PermissionTickets {
  /** A challenge for `WWW-Authenticate`, or `undefined` while no ticket can be had: the refusal stands without one. */
  readonly challenge: (
    client: ClientCredentials,
    resources: readonly string[],
    realm: string,
  ) => Promise<string | undefined>;
  /** A ticket for these permissions, or `undefined` while none can be had. */
  readonly ticket: (
    client: ClientCredentials,
    permissions: readonly RequestedPermission[],
  ) => Promise<string | undefined>;
  /** `as_uri` of challenges. */
  readonly issuer: string;
}

/** UMA 2.0 Federated Authorization §4.1. */
export interface RequestedPermission {
  readonly resource_id: string;
  readonly resource_scopes?: readonly string[];
}

/** Permissions to send a request to those of some resources that the enforcement point registered. */
export const permissionsFor = (
  resources: readonly Resource[],
  method: string,
): readonly Required<RequestedPermission>[] =>
  resources
    .filter(({ type }) => type === METHOD_RESOURCE_TYPE)
    .map((resource) => ({ resource_id: resource.id, resource_scopes: [permissionScope(resource, method)] }));

interface PermissionTicketsDeps {
  readonly endpoint: TokenEndpoint;
  readonly peer: Peer;
  readonly realm: string;
  /** `as_uri` of challenges: the issuer. */
  readonly issuer: string;
  readonly logger: Logger;
  readonly clock: () => number;
}

/** Tickets that are asked for at once; who comes when so many wait is refused without one. */
const MAX_CONCURRENT_TICKETS = 16;
const TICKET_TIMEOUT_MS = 2000;
/** A token of our own is renewed this long before its end. */
const RENEW_BEFORE_MS = 30_000;

export function createPermissionTickets(deps: PermissionTicketsDeps): PermissionTickets {
  const { endpoint, peer, realm, issuer, logger, clock } = deps;
  const tokens = new Map<string, { readonly token: string; readonly until: number }>();
  let running = 0;

  const tokenOf = async ({ clientId }: ClientCredentials): Promise<string | undefined> => {
    const known = tokens.get(clientId);
    if (known !== undefined && known.until > clock()) {
      return known.token;
    }
    const response = await endpoint.send(clientId, { grant_type: "client_credentials" });
    if (!response.ok) {
      return undefined;
    }
    const seconds = Number(response.body["expires_in"] ?? 60);
    tokens.set(clientId, {
      token: response.tokens.accessToken,
      until: clock() + seconds * 1000 - RENEW_BEFORE_MS,
    });
    return response.tokens.accessToken;
  };

  const send = async (
    client: ClientCredentials,
    permissions: readonly RequestedPermission[],
  ): Promise<string | undefined> => {
    const token = await tokenOf(client);
    if (token === undefined) {
      return undefined;
    }
    const response = await peer.fetch(`${realmPath(realm)}/authz/protection/permission`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(permissions),
      timeout: TICKET_TIMEOUT_MS,
    });
    if (response.status !== 201) {
      tokens.delete(client.clientId);
      await response.body?.cancel();
      return undefined;
    }
    const { ticket } = (await response.json()) as { ticket?: unknown };
    return typeof ticket === "string" && /^[\w.~+/=-]{1,4096}$/.test(ticket) ? ticket : undefined;
  };

  const ticket: PermissionTickets["ticket"] = async (client, permissions) => {
    if (permissions.length === 0 || running >= MAX_CONCURRENT_TICKETS) {
      return undefined;
    }
    running += 1;
    try {
      return await send(client, permissions);
    } catch (error) {
      // The refusal does not depend on it.
      logger.warn({ err: error }, "failed to get a permission ticket");
      return undefined;
    } finally {
      running -= 1;
    }
  };

  return {
    issuer,
    ticket,
    challenge: async (client, resources, host) => {
      const text = await ticket(
        client,
        resources.map((id) => ({ resource_id: id })),
      );
      return text === undefined ? undefined : `UMA realm="${host}", as_uri="${issuer}", ticket="${text}"`;
    },
  };
}
