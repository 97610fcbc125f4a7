import type { FastifyReply, FastifyRequest } from "fastify";
import type Provider from "oidc-provider";

import type { IdentityContext } from "../context.ts";
import { toEngineRequest } from "../oidc/engine-request.ts";
import { findProvider } from "../oidc/provider.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { type User, findUser } from "../store/users.ts";

export interface BrowserSession {
  /** Also the id of the user session that clients' tokens belong to. */
  readonly uid: string;
  readonly user: User;
}

/** Which account the browser that sent this is logged in to, whatever has become of the account since. */
export async function findLogin(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<{ readonly uid: string; readonly accountId: string } | undefined> {
  const provider = findProvider(context, handle);
  const koa = provider.createContext(toEngineRequest(context.publicUrl, request), reply.raw);
  const { uid, accountId }: InstanceType<Provider["Session"]> = await provider.Session.get(koa as never);
  return accountId === undefined ? undefined : { uid, accountId };
}

/** Who is logged in in the browser that sent this. */
export async function findBrowserSession(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<BrowserSession | undefined> {
  const login = await findLogin(context, handle, request, reply);
  const user = login && (await findUser(context.pool, handle.realm.id, login.accountId));
  return login !== undefined && user?.enabled === true ? { uid: login.uid, user } : undefined;
}
