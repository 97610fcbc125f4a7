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

/** Who is logged in in the browser that sent this. */
export async function findBrowserSession(
  context: IdentityContext,
  handle: RealmHandle,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<BrowserSession | undefined> {
  const provider = findProvider(context, handle);
  const koa = provider.createContext(toEngineRequest(context.publicUrl, request), reply.raw);
  const session: InstanceType<Provider["Session"]> = await provider.Session.get(koa as never);
  if (session.accountId === undefined) {
    return undefined;
  }
  const user = await findUser(context.pool, handle.realm.id, session.accountId);
  return user?.enabled === true ? { uid: session.uid, user } : undefined;
}
