import { randomBytes } from "node:crypto";

import { Problem } from "@swath/service";
import type { FailureDelays } from "@swath/service/failure-delays";

import { type Principal, toPrincipal } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { equalsSafely } from "../signature/signing-key.ts";
import type { AccessKey } from "../store/accounts.ts";
import type { ObjectStore } from "../store/store.ts";

const SECONDS = 8 * 3600;
const ATTEMPTS = 10;

interface SessionsDeps {
  readonly store: ObjectStore;
  readonly rootUser: string;
  readonly rootPassword: string;
  /** Accepted as well, while the password is being changed. */
  readonly rootPasswordAlso?: string | undefined;
  readonly failures: FailureDelays;
}

/** A signed-in caller of the console: its principal and temporary S3 credentials of the same rights. */
export interface Session {
  readonly principal: Principal;
  readonly key: AccessKey;
}

/** Sessions are temporary access keys: they survive a restart, end by themselves and can be revoked like any key. */
export class Sessions {
  readonly #deps: SessionsDeps;

  constructor(deps: SessionsDeps) {
    this.#deps = deps;
  }

  /** Signs in with an access key and its secret. @throws {Problem} 401, later and later after failures from `address` */
  async signIn(accessKey: string, secret: string, address: string): Promise<Session> {
    const { store, rootUser } = this.#deps;
    const principal = await this.check(accessKey, secret, address);
    const own = accessKey === rootUser ? undefined : store.accounts.findKey(accessKey);
    const end = store.now() + SECONDS * 1000;
    const key = await store.accounts.createKey({
      kind: "ASIA",
      user: own?.user ?? rootUser,
      title: "console",
      policy: own?.policy ?? undefined,
      expires: Math.min(end, own?.expires ?? end),
      token: randomBytes(32).toString("base64url"),
      claims: own?.claims ?? undefined,
      parent: own?.id,
    });
    return { principal, key };
  }

  /** @throws {Problem} 401; 429 from an address that failed often lately */
  async check(accessKey: string, secret: string, address: string): Promise<Principal> {
    const { store, rootUser, rootPassword, rootPasswordAlso: also, failures } = this.#deps;
    const now = store.now();
    const key = store.accounts.findKey(accessKey);
    const expected = accessKey === rootUser ? rootPassword : key?.token === null ? key.secret : undefined;
    const isOther = accessKey === rootUser && also !== undefined && equalsSafely(also, secret);
    if (expected === undefined || !(equalsSafely(expected, secret) || isOther)) {
      // Only what is wrong is counted and waits: whoever has the secret signs in, whatever others tried.
      const isOften = failures.count(address) >= ATTEMPTS;
      await failures.slow(address);
      throw isOften
        ? new Problem(429, "Too many failed attempts from your address; wait a minute.", {
            headers: { "retry-after": "60" },
          })
        : new Problem(401, "The access key or its secret is wrong.");
    }
    if (key === undefined || accessKey === rootUser) {
      return { kind: "root", name: rootUser, account: "" };
    }
    if (key.expires !== null && key.expires <= now) {
      throw new Problem(401, "The access key has expired.");
    }
    const usable = this.#toPrincipal(key);
    if (usable === undefined) {
      throw new Problem(401, "The access key or its user is disabled.");
    }
    return usable;
  }

  /** The session of a token made by `signIn` or by an identity token; undefined when it has ended. */
  find(token: string): Session | undefined {
    const { store } = this.#deps;
    const [id = "", secret = ""] = token.split(".", 2);
    const key = store.accounts.findKey(id);
    if (
      key === undefined ||
      key.token === null ||
      !equalsSafely(key.token, secret) ||
      (key.expires ?? 0) <= store.now()
    ) {
      return undefined;
    }
    const principal = this.#toPrincipal(key);
    return principal && { key, principal };
  }

  /** Undefined when the key or its user has been disabled. */
  #toPrincipal(key: AccessKey): Principal | undefined {
    try {
      return toPrincipal(key, this.#deps.store.accounts, this.#deps.rootUser);
    } catch (error) {
      if (error instanceof S3Error && error.code === "InvalidAccessKeyId") {
        return undefined;
      }
      throw error;
    }
  }
}

/** What a client keeps: names the session and proves it. */
export function toSessionToken({ id, token }: AccessKey): string {
  return `${id}.${token ?? ""}`;
}
