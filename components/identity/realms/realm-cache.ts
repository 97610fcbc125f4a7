import { LRUCache } from "lru-cache";
import type pg from "pg";

import type { ClientKeys } from "../protocol/client-keys.ts";
import type { ChangeFeed } from "../store/changes.ts";
import { listClientScopes } from "../store/client-scopes.ts";
import { takeOnce } from "../store/used-once.ts";
import { type Client, findClient } from "../store/clients.ts";
import { listKeys } from "../store/keys.ts";
import { type Realm, findRealm } from "../store/realms.ts";
import { heldScopes } from "../claims/scopes.ts";
import { findRolesWithin, intersectAccess } from "../store/scope-roles.ts";
import type { UserAccess } from "../store/users.ts";
import { type KeySet, loadKeySet } from "../tokens/key-set.ts";
import { type RefreshTokens, createRefreshTokens } from "../tokens/refresh-token.ts";

/** A realm as requests need it, kept in memory until somebody says that it changed. */
export interface RealmHandle {
  readonly realm: Realm;
  /** `iss` of its tokens. */
  readonly issuer: string;
  /** `<public URL>/realms/<realm>`: what its endpoints are below. */
  readonly address: string;
  readonly keys: KeySet;
  readonly refreshTokens: RefreshTokens;
  readonly findClient: (clientId: string) => Promise<Client | undefined>;
  /** Public keys of clients that sign for themselves. */
  readonly clientKeys: ClientKeys;
  /** Names of the realm's client scopes. */
  readonly scopes: readonly string[];
  /** True the first time that this is asked for an id, on every replica. */
  readonly takeOnce: (kind: string, id: string, expiresAt: Date) => Promise<boolean>;
  /** Of a user's roles those that a client may see in a grant: all of them where it has full scope. */
  readonly limitAccess: (client: Client, access: UserAccess, scope: string) => Promise<UserAccess>;
}

export interface RealmCache {
  /** `undefined` for a realm that does not exist; disabled ones are given. */
  readonly find: (name: string) => Promise<RealmHandle | undefined>;
}

interface RealmCacheOptions {
  readonly pool: pg.Pool;
  readonly publicUrl: string;
  /** The realm whose issuer is the bare public URL, as clients of the login service know it. */
  readonly loginRealm?: string | undefined;
  readonly changes: ChangeFeed;
  readonly clientKeys: ClientKeys;
}

/** What is kept is dropped after this even when no change was heard of. */
const MAX_AGE = 60_000;
/** Unknown clients are not remembered: who asks for many names must not fill the memory. */
const CLIENTS_KEPT = 1000;

interface Kept {
  readonly handle: Promise<RealmHandle | undefined>;
  readonly until: number;
}

/** `iss` of the tokens of a realm. */
export function issuerOf(
  { publicUrl, loginRealm }: { readonly publicUrl: string; readonly loginRealm?: string | undefined },
  realm: string,
): string {
  return realm === loginRealm ? publicUrl : `${publicUrl}/realms/${realm}`;
}

export function createRealmCache({ pool, publicUrl, loginRealm, changes, clientKeys }: RealmCacheOptions): RealmCache {
  const realms = new Map<string, Kept>();
  const clients = new Map<string, LRUCache<string, Client>>();
  /** Counts what was heard, so that what was read before a change is not kept after it. */
  let heard = 0;

  const load = async (name: string): Promise<RealmHandle | undefined> => {
    const realm = await findRealm(pool, name);
    if (realm === undefined) {
      return undefined;
    }
    const keys = await loadKeySet(await listKeys(pool, realm.id));
    const issuer = issuerOf({ publicUrl, loginRealm }, name);
    const scopes = (await listClientScopes(pool, realm.id)).map((scope) => scope.name);
    return {
      realm,
      issuer,
      address: `${publicUrl}/realms/${name}`,
      keys,
      refreshTokens: createRefreshTokens(realm.secret, issuer),
      clientKeys,
      scopes,
      takeOnce: (kind, id, expiresAt) => takeOnce(pool, `${realm.id} ${kind}`, id, expiresAt),
      findClient: async (clientId) => {
        const known = clients.get(name)?.get(clientId);
        if (known !== undefined) {
          return known;
        }
        const heardBefore = heard;
        const client = await findClient(pool, realm.id, clientId);
        const ofRealm = clients.get(name) ?? new LRUCache<string, Client>({ max: CLIENTS_KEPT, ttl: MAX_AGE });
        clients.set(name, ofRealm);
        ofRealm.delete(clientId);
        // Between a lost connection and the next nobody tells of changes: nothing is kept then.
        if (client !== undefined && heard === heardBefore && changes.isConnected()) {
          ofRealm.set(clientId, client);
        }
        return client;
      },
      limitAccess: async (client, access, scope) => {
        if (client.settings.fullScopeAllowed) {
          return access;
        }
        const roles = [...client.scopeRoles, ...heldScopes(client, scope).flatMap((held) => held.roles)];
        return intersectAccess(access, await findRolesWithin(pool, roles, client.id));
      },
    };
  };

  changes.events.on("change", (change) => {
    heard += 1;
    if (change.kind === "realm") {
      realms.delete(change.realm);
      clients.delete(change.realm);
    } else if (change.kind === "client") {
      clients.get(change.realm)?.delete(change.clientId);
    }
  });
  changes.events.on("lost", () => {
    heard += 1;
    realms.clear();
    clients.clear();
  });

  return {
    find: (name) => {
      const kept = realms.get(name);
      if (kept !== undefined && kept.until > Date.now()) {
        return kept.handle;
      }
      const handle = load(name);
      const entry = { handle, until: changes.isConnected() ? Date.now() + MAX_AGE : 0 };
      realms.set(name, entry);
      const forget = () => {
        if (realms.get(name) === entry) {
          realms.delete(name);
        }
      };
      // Neither an error nor the absence of a realm is remembered.
      handle.then((found) => found ?? forget(), forget);
      return handle;
    },
  };
}
