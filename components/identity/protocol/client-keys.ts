import type { Logger } from "@swath/service";
import {
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
} from "jose";
import { LRUCache } from "lru-cache";

import type { Client } from "../store/clients.ts";
import type { ClientAddresses } from "./client-addresses.ts";

/** Attributes of clients, by the names that the known provider has for them. */
export const INLINE_KEYS = "jwks.string";
export const KEYS_ADDRESS = "jwks.url";
export const USES_KEYS_ADDRESS = "use.jwks.url";
/** How the client says who it is (RFC 7591 §2). */
export const AUTH_METHOD = "token_endpoint_auth_method";

/** Finds the public keys of clients that sign for themselves. */
export interface ClientKeys {
  /** `undefined` for a client without keys. */
  readonly find: (client: Client) => JWTVerifyGetKey | undefined;
}

const MAX_SETS = 1000;

/** Sets of keys elsewhere are kept for ten minutes, and read again, not too often, where a key is missing. */
export function createClientKeys(addresses: ClientAddresses, logger: Logger): ClientKeys {
  const remote = new LRUCache<string, JWTVerifyGetKey>({ max: MAX_SETS });
  const fetchKeys = async (url: string): Promise<Response> => {
    try {
      const { status, text } = await addresses.send(url);
      return new Response(status === 200 ? text : null, { status: status === 200 ? 200 : 502 });
    } catch (error) {
      logger.warn({ url, err: error }, "the keys of a client cannot be read");
      throw new errors.JWKSInvalid("the keys of the client cannot be read");
    }
  };
  return {
    find: ({ settings: { attributes } }) => {
      const url = attributes[KEYS_ADDRESS];
      if (attributes[USES_KEYS_ADDRESS] === "true" && url !== undefined && URL.canParse(url)) {
        const known = remote.get(url) ?? createRemoteJWKSet(new URL(url), { [customFetch]: fetchKeys });
        remote.set(url, known);
        return known;
      }
      const inline = attributes[INLINE_KEYS];
      return inline === undefined || inline === "" ? undefined : createLocalJWKSet(JSON.parse(inline) as JSONWebKeySet);
    },
  };
}

/** Whether a client must sign for itself: its secret as it is says nothing then. */
export function signsForItself({ settings: { attributes } }: Client): boolean {
  return (
    ["private_key_jwt", "client_secret_jwt"].includes(attributes[AUTH_METHOD] ?? "") ||
    (attributes[INLINE_KEYS] ?? "") !== "" ||
    (attributes[USES_KEYS_ADDRESS] === "true" && (attributes[KEYS_ADDRESS] ?? "") !== "")
  );
}
