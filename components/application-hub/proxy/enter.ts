import { parseCookies, readCookie, renderCookie } from "@swath/auth";
import type { IncomingMessage, ServerResponse } from "node:http";

import { type Sql, createSecret, hashSecret } from "../store/database.ts";
import { redirect, sendText } from "./respond.ts";

export interface EnterDeps {
  readonly sql: Sql;
  /** Cookie of a visit, at the origin of a server. */
  readonly cookieName: string;
  /** `application-hub.example.org` */
  readonly hubHost: string;
  readonly publicUrl: string;
  readonly secure: boolean;
}

const VISIT_SECONDS = 7 * 86_400;
const ENTER_SECONDS = 600;
const MAX_PATH_CHARACTERS = 2000;

/**
 * Sends a browser without a visit to the hub, which knows who it is and what becomes of a server that is not there. The state that comes
 * back with the code is bound to this browser by a cookie of this origin (as in RFC 6749 §10.12); programs are told 403.
 */
export function startEntering(
  deps: EnterDeps,
  label: string,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.resume();
  if (!isPage(request)) {
    refuseProgram(response);
    return;
  }
  const { secret: state } = createSecret();
  const path = (request.url ?? "/").slice(0, MAX_PATH_CHARACTERS);
  const kept = Buffer.from(JSON.stringify({ state, path })).toString("base64url");
  const hub = new URL("/hub/enter", deps.publicUrl);
  hub.searchParams.set("server", label);
  hub.searchParams.set("state", state);
  redirect(response, hub.href, [
    renderCookie(`${deps.cookieName}_state`, kept, { secure: deps.secure, sameSite: "Lax", maxAge: ENTER_SECONDS }),
  ]);
}

/** A browser comes back from the hub: its code becomes a visit. */
export async function handleEnter(
  deps: EnterDeps,
  label: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const query = new URL(request.url ?? "/", deps.publicUrl).searchParams;
  const pending = readPending(readCookie(parseCookies(request.headers.cookie), `${deps.cookieName}_state`));
  const [code, state] = [query.get("code") ?? "", query.get("state") ?? ""];
  if (pending === undefined || pending.state !== state) {
    // Begun in another tab or too long ago: once more from the start.
    redirect(response, "/", []);
    return;
  }
  const entry = await deps.sql.first<{ server_id: string; login_id: string; user_name: string }>(
    `with used as (delete from entries where hash = $1 and state = $2 and expires > now() returning server_id, login_id)
     select used.server_id, used.login_id, logins.user_name from used
       join servers on servers.id = used.server_id and servers.label = $3 join logins on logins.id = used.login_id`,
    [hashSecret(code), state, label],
  );
  if (entry === undefined) {
    redirect(response, pending.path, []);
    return;
  }
  const { secret, hash } = createSecret();
  await deps.sql.rows(
    "insert into visits (hash, server_id, login_id, user_name, expires) values ($1, $2, $3, $4, now() + make_interval(secs => $5))",
    [hash, entry.server_id, entry.login_id, entry.user_name, VISIT_SECONDS],
  );
  const { secure } = deps;
  redirect(response, pending.path, [
    renderCookie(deps.cookieName, secret, { secure, sameSite: "Lax", maxAge: VISIT_SECONDS }),
    renderCookie(`${deps.cookieName}_state`, "", { secure, sameSite: "Lax", maxAge: 0 }),
  ]);
}

/** Whether a browser asks for a page, which people see. */
export const isPage = ({ method, headers }: IncomingMessage): boolean =>
  (method === "GET" || method === "HEAD") && /text\/html/.test(headers.accept ?? "");

export function refuseProgram(response: ServerResponse): void {
  sendText(
    response,
    403,
    "Log in to this server first, with a browser or with a token of the hub (Authorization: token …).",
  );
}

function readPending(value: string | undefined): { readonly state: string; readonly path: string } | undefined {
  if (value === undefined) {
    return undefined;
  }
  try {
    const found = JSON.parse(Buffer.from(value, "base64url").toString("utf8")) as {
      state?: unknown;
      path?: unknown;
    } | null;
    const { state, path } = found ?? {};
    // Backslashes and a second slash are where browsers begin another host.
    return typeof state === "string" && typeof path === "string" && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path)
      ? { state, path }
      : undefined;
  } catch {
    // Not ours.
    return undefined;
  }
}
