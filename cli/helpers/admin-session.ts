import { realmPath } from "@swath/manifest/realm-paths";
import { setTimeout as sleep } from "node:timers/promises";

import { CommandError } from "../commands/command.ts";
import type { AdminOptions } from "./defaults.ts";
import type { Fetch } from "../targets/deployment-fetch.ts";

/** Requests of an administrator: with a token, tried again while the service is starting, but not for ever. */
export interface AdminSession {
  /** @returns status and JSON (or text) of the answer; every status but 401, 429, 502, 503, 504 */
  readonly request: (method: string, url: string, body?: unknown, type?: string) => Promise<AdminResponse>;
}

interface AdminResponse {
  readonly status: number;
  readonly body: unknown;
  /** Where what was asked for can be followed. */
  readonly location?: string;
}

interface SessionOptions extends AdminOptions {
  /** A token instead of a login. */
  readonly token?: string | undefined;
  /** Logs in only where a service asks for it: open deployments have nobody to log in at. */
  readonly startsWithoutToken?: boolean;
  readonly readPassword: () => Promise<string>;
  readonly print: (text: string) => void;
  readonly fetch: Fetch;
  /** Milliseconds before each further try. */
  readonly pauses?: readonly number[];
}

const PAUSES = [1000, 2000, 4000, 8000, 10_000, 10_000];
const TRY_AGAIN = [429, 502, 503, 504];
const TIMEOUT = 30_000;

export function createAdminSession(options: SessionOptions): AdminSession {
  const { authServer, realm, client, user, readPassword, print, fetch, pauses = PAUSES } = options;
  let token = options.token;
  let password: string | undefined;
  let isAnonymous = options.startsWithoutToken === true && token === undefined;

  const send = async (url: string, init: NonNullable<Parameters<Fetch>[1]>): Promise<AdminResponse> => {
    for (let attempt = 0; ; attempt += 1) {
      const pause = pauses[attempt];
      let reason: string;
      try {
        const response = await fetch(url, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
        const text = await response.text();
        if (!TRY_AGAIN.includes(response.status) || pause === undefined) {
          const location = response.headers.get("location");
          return { status: response.status, body: parse(text), ...(location !== null && { location }) };
        }
        reason = `answered ${response.status}`;
      } catch (error) {
        reason = `cannot be reached: ${reasonOf(error)}`;
        if (pause === undefined) {
          throw new CommandError(`${new URL(url).origin} ${reason}`);
        }
      }
      print(`${new URL(url).origin} ${reason}; trying again in ${pause / 1000} s`);
      await sleep(pause);
    }
  };

  const logIn = async (): Promise<string> => {
    password ??= await readPassword();
    const { status, body } = await send(`${authServer}${realmPath(realm)}/protocol/openid-connect/token`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "cache-control": "no-cache" },
      body: new URLSearchParams({
        scope: "openid profile email",
        grant_type: "password",
        username: user,
        password,
        client_id: client,
      }),
    });
    const { access_token: found } = Object(body) as { access_token?: unknown };
    if (status !== 200 || typeof found !== "string") {
      throw new CommandError(`${user} cannot log in at ${authServer}: ${describe(status, body)}`);
    }
    return found;
  };

  return {
    request: async (method, url, body, type = "application/json") => {
      for (let logins = 0; ; logins += 1) {
        if (!isAnonymous) {
          token ??= await logIn();
        }
        const response = await send(url, {
          method,
          headers: {
            ...(token !== undefined && { authorization: `Bearer ${token}` }),
            accept: "application/json",
            ...(body !== undefined && { "content-type": type }),
          },
          ...(body !== undefined && { body: type === "application/json" ? JSON.stringify(body) : (body as string) }),
        });
        // A token can end while somebody waits; once more with a new one, unless it was given.
        if (response.status !== 401 || logins > 0 || options.token !== undefined) {
          return response;
        }
        token = undefined;
        isAnonymous = false;
      }
    },
  };
}

/** An answer nobody expected, in one line. */
export function describe(status: number, body: unknown): string {
  const {
    error_description: description,
    error,
    detail,
    errorMessage,
    title,
  } = Object(body) as Record<string, unknown>;
  const said = [description, detail, error, errorMessage, title].find((value) => typeof value === "string");
  const reasons = listReasons(detail);
  return reasons !== ""
    ? `${reasons} (${status})`
    : typeof said === "string"
      ? `${said} (${status})`
      : `HTTP status ${status}`;
}

/** Validation errors in the form of known servers: `detail: [{ loc: ["body", "name"], msg }]`. */
function listReasons(detail: unknown): string {
  return Array.isArray(detail)
    ? detail
        .map((reason) => Object(reason) as { readonly loc?: unknown; readonly msg?: unknown })
        .filter(({ msg }) => typeof msg === "string")
        .map(({ loc, msg }) => `${Array.isArray(loc) ? `${loc.join(".")}: ` : ""}${String(msg)}`)
        .join("; ")
    : "";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
