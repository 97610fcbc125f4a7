import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { type BrowserSession, findBrowserSession } from "../pages/browser-session.ts";
import { authorizationPath } from "../oidc/provider.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { ADMIN_ROLE } from "../realms/create-realm.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import type { Client } from "../store/clients.ts";
import { startSession } from "../store/sessions.ts";
import { type UserAccess, findUserWithAccess } from "../store/users.ts";

export const CONSOLE = "/console";
const CLIENT = "security-admin-console";

/** Somebody who administers, at a page of the console. */
export interface ConsoleContext {
  readonly context: IdentityContext;
  /** The service's own, for requests to its admin API. */
  readonly app: FastifyInstance;
  /** Realm of the browser session: `master`. */
  readonly home: RealmHandle;
  readonly session: BrowserSession;
  readonly access: UserAccess;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly query: Readonly<Record<string, string>>;
}

/**
 * Whose browser this is, with the roles as they are now: `anonymous` when nobody is logged in to `master`, `stranger` without
 * the role `admin` of it.
 */
export async function openConsoleContext(
  context: IdentityContext,
  app: FastifyInstance,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<ConsoleContext | "anonymous" | "stranger"> {
  const home = await findRealmOr404(context, "master");
  const session = await findBrowserSession(context, home, request, reply);
  if (session === undefined) {
    return "anonymous";
  }
  const found = await findUserWithAccess(context.pool, home.realm.id, session.user.id);
  if (found?.access.realm.includes(ADMIN_ROLE) !== true) {
    return "stranger";
  }
  return { context, app, home, session, access: found.access, request, reply, query: readQuery(request.query) };
}

function readQuery(query: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries((query ?? {}) as Record<string, unknown>).flatMap(([name, value]) =>
      typeof value === "string" ? [[name, value]] : [],
    ),
  );
}

/** Through the authorization endpoint and back to the page; the code that comes along is not needed, the browser session is. */
export function logInPath({ publicUrl }: IdentityContext, path: string): string {
  const query = new URLSearchParams({
    client_id: CLIENT,
    response_type: "code",
    scope: "openid",
    redirect_uri: `${publicUrl}${path}`,
    // Nobody redeems the code, so nobody needs to know what this is the hash of.
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
  return `${authorizationPath("master")}?${query.toString()}`;
}

/** Puts the browser session on the list of sessions, where it can be ended. */
export async function recordSession({ context, home, session, request }: ConsoleContext): Promise<void> {
  await startSession(
    context.pool,
    {
      id: session.uid,
      realmId: home.realm.id,
      userId: session.user.id,
      offline: false,
      ip: request.ip,
      userAgent: request.headers["user-agent"],
    },
    { client: (await findConsoleClient(home)).id, scope: "openid" },
    home.realm.settings,
  );
}

/** @throws {Error} when somebody deleted it in the database */
export async function findConsoleClient(home: RealmHandle): Promise<Client> {
  const client = await home.findClient(CLIENT);
  if (client === undefined) {
    throw new Error(`realm master lacks the client ${CLIENT}`);
  }
  return client;
}
