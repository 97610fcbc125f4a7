import { adminRealmPath } from "@swath/manifest/realm-paths";
import type { Peer } from "@swath/service";
import type { FastifyRequest } from "fastify";

import { IdentityApiError } from "./errors.ts";

/** The admin REST API of the identity service, asked in the name of the caller. */
export interface AdminClient {
  /** @throws {IdentityAnswerError} for every answer that is no success */
  readonly send: <Body = unknown>(method: string, path: string, body?: unknown) => Promise<Body>;
  /** The uuid of a client given by client id or uuid. @throws {IdentityAnswerError} 404 */
  readonly findClient: (client: string) => Promise<string>;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Makes a client that sends on the caller's token: the identity service decides what the caller may do. */
export function createAdminClient(peer: Peer, realm: string, request: FastifyRequest): AdminClient {
  const base = adminRealmPath(realm);
  const { authorization } = request.headers;

  const send = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const response = await peer.fetch(`${base}${path}`, {
      method,
      timeout: 10_000,
      headers: {
        accept: "application/json",
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const content: unknown = text === "" ? undefined : JSON.parse(text);
    if (!response.ok) {
      throw new IdentityApiError(response.status, content);
    }
    return content as Body;
  };
  return {
    send,
    findClient: async (client) => {
      const [found] = await send<readonly { id: string }[]>("GET", `/clients?clientId=${encodeURIComponent(client)}`);
      if (found !== undefined) {
        return found.id;
      }
      if (UUID.test(client)) {
        return (await send<{ id: string }>("GET", `/clients/${client}`)).id;
      }
      throw new IdentityApiError(404, { error: `Client ${client} not found` });
    },
  };
}

/** Answers a conflict with `undefined` instead of an error: what is there already is as good. */
export async function ignoreConflict<Body>(work: Promise<Body>): Promise<Body | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof IdentityApiError && error.status === 409) {
      return undefined;
    }
    throw error;
  }
}
