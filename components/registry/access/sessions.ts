import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";

import { type EndedLogin, parseCookies, readCookie } from "@swath/auth";
import { Problem } from "@swath/service";

import { type Account, findAccount } from "../store/accounts.ts";
import type { Sql } from "../store/database.ts";
import {
  type PlatformLogin,
  deleteSession,
  deleteSessionsOfLogin,
  findSession,
  insertSession,
} from "../store/sessions.ts";
import { ADMIN_NAME, toPrincipal } from "./authenticate.ts";
import type { Principal } from "./principal.ts";

/** Sessions of the console: a cookie that no script sees, kept in the database, so that any replica knows it. */
export interface Sessions {
  /** Each gives the field `Set-Cookie`. */
  readonly openForAdmin: () => Promise<string>;
  /** `how`: by the platform's login, or by the secret for command lines, whose end is the session's too. */
  readonly openForAccount: (account: Account, how: "login" | "secret", login?: PlatformLogin) => Promise<string>;
  /** Ends the sessions of a login that has ended at the issuer. */
  readonly endLogin: (ended: EndedLogin) => Promise<void>;
  /** Undefined without a valid session. @throws {Problem} 403 for a change that a page of another host asks for */
  readonly find: (message: IncomingMessage) => Promise<Principal | undefined>;
  readonly close: (message: IncomingMessage) => Promise<string>;
}

interface SessionsOptions {
  readonly sql: Sql;
  /** Hangs on the administrator's password, and does not tell it. */
  readonly adminProof: string;
  readonly publicUrl: string;
}

const COOKIE = "registry_session";
const SESSION_SECONDS = 8 * 3600;
const READING = new Set(["GET", "HEAD"]);

export function createSessions({ sql, adminProof, publicUrl }: SessionsOptions): Sessions {
  const { origin, protocol } = new URL(publicUrl);
  const attributes = `Path=/; HttpOnly; SameSite=Strict${protocol === "https:" ? "; Secure" : ""}`;
  const secretOf = ({ headers }: IncomingMessage) => readCookie(parseCookies(headers.cookie), COOKIE);
  const open = async (username: string | undefined, proof: string, login?: PlatformLogin) =>
    `${COOKIE}=${await insertSession(sql, { username, proof, login }, SESSION_SECONDS)}; ${attributes}`;
  return {
    openForAdmin: () => open(undefined, adminProof),
    openForAccount: (account, how, login) => open(account.username, proofOf(account, how), login),
    endLogin: (ended) => deleteSessionsOfLogin(sql, ended),
    find: async (message) => {
      const secret = secretOf(message);
      const session = secret === undefined ? undefined : await findSession(sql, secret);
      if (session === undefined) {
        return undefined;
      }
      // The cookie comes along from every host below the domain; what changes something has to come from the console's own pages.
      if (!READING.has(message.method ?? "") && message.headers.origin !== origin) {
        throw new Problem(
          403,
          `A session changes something only from the pages of ${origin}; programs send HTTP Basic.`,
        );
      }
      if (session.username === undefined) {
        return session.proof === adminProof ? { kind: "admin", name: ADMIN_NAME } : undefined;
      }
      const account = await findAccount(sql, session.username);
      return account !== undefined && [proofOf(account, "login"), proofOf(account, "secret")].includes(session.proof)
        ? toPrincipal(account)
        : undefined;
    },
    close: async (message) => {
      const secret = secretOf(message);
      if (secret !== undefined) {
        await deleteSession(sql, secret);
      }
      return `${COOKIE}=; ${attributes}; Max-Age=0`;
    },
  };
}

function proofOf({ userId, secretDigest }: Account, how: "login" | "secret"): string {
  return how === "login" ? `login ${userId}` : `secret ${hash("sha256", secretDigest ?? "", "base64url")}`;
}
