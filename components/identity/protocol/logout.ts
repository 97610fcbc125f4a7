import type { FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { isRedirectAllowed } from "../oidc/redirect-uris.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { findBrowserSession } from "../pages/browser-session.ts";
import { renderErrorPage } from "../pages/error-page.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "../pages/form-token.ts";
import { renderLoggedOutPage, renderLogoutPage } from "../pages/logout-page.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { insertEvent } from "../store/events.ts";
import { endSession } from "../store/sessions.ts";
import { authenticateClient } from "./client-authentication.ts";
import { Form, readForm } from "./form.ts";
import { findLogoutFrames, renderLogoutFrames } from "./front-channel-logout.ts";
import { invalidGrant } from "./oauth-error.ts";

interface Logout {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/**
 * `GET` and `POST …/logout`: a browser with `id_token_hint` is logged out at once and sent back to
 * `post_logout_redirect_uri` (OpenID Connect RP-Initiated Logout §2), without one it is asked first; a program posts its
 * `refresh_token` and gets 204, as existing clients do.
 */
export async function handleLogout(logout: Logout): Promise<unknown> {
  const { request, reply } = logout;
  const form = request.method === "POST" ? readForm(request) : new Form(request.query);
  if (request.method === "POST" && form.get("refresh_token") !== undefined) {
    return logOutProgram(logout, form);
  }
  void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
  return logOutBrowser(logout, form);
}

async function logOutProgram({ context, handle, request, reply }: Logout, form: Form): Promise<unknown> {
  const client = await authenticateClient(handle, request.headers.authorization, form);
  const claims = handle.refreshTokens.read(form.require("refresh_token"));
  if (claims === undefined || claims.azp !== client.clientId) {
    throw invalidGrant("Invalid refresh token");
  }
  await end({ context, handle, request }, claims.sid, claims.sub, client.clientId);
  return reply.code(204).send();
}

async function logOutBrowser({ context, handle, request, reply }: Logout, form: Form): Promise<unknown> {
  const { realm, keys, issuer } = handle;
  const hint = await keys.verify(form.get("id_token_hint") ?? "");
  // An expired hint still says whose session it was (§2).
  const known = hint !== undefined && hint["iss"] === issuer && hint["typ"] === "ID" ? hint : undefined;
  const named = form.get("client_id");
  const clientId = typeof known?.["azp"] === "string" ? known["azp"] : named;
  if (named !== undefined && named !== clientId) {
    // The client of the request must be the one that the token was made for (§2).
    return reply.code(400).send(
      renderErrorPage({
        title: "Not logged out",
        message:
          "The application named another one than it was given its proof of your login by. You are still logged in.",
      }),
    );
  }
  const target = await findTarget(context, handle, clientId, form);
  if (target === false) {
    return reply.code(400).send(
      renderErrorPage({
        title: "Not logged out",
        message: "The application asked to go on to an address that is not registered for it. You are still logged in.",
      }),
    );
  }
  const session = await findBrowserSession(context, handle, request, reply);
  const confirmed =
    request.method === "POST" &&
    session !== undefined &&
    isFormToken(realm, "logout", session.uid, form.get(FORM_TOKEN));
  const hinted = typeof known?.["sid"] === "string" ? known["sid"] : undefined;
  if (session !== undefined && hinted !== session.uid && !confirmed) {
    // Anybody can send a browser here: without proof of who asks, the person is asked.
    return reply.send(
      renderLogoutPage({
        action: request.url.split("?", 1)[0] ?? "",
        token: makeFormToken(realm, "logout", session.uid),
        username: session.user.username,
        fields: {
          client_id: clientId,
          post_logout_redirect_uri: form.get("post_logout_redirect_uri") ?? form.get("redirect_uri"),
          state: form.get("state"),
        },
      }),
    );
  }
  const subject = typeof known?.["sub"] === "string" ? known["sub"] : session?.user.id;
  const frames: string[] = [];
  for (const sid of new Set([hinted, session?.uid])) {
    if (sid !== undefined) {
      frames.push(...(await findLogoutFrames(context, handle, sid)));
      await end({ context, handle, request }, sid, subject, clientId);
    }
  }
  if (frames.length > 0) {
    const { headers, page } = renderLogoutFrames([...new Set(frames)], target);
    return reply.headers(headers).send(page);
  }
  return target === undefined ? reply.send(renderLoggedOutPage()) : reply.redirect(target, 302);
}

async function end(
  { context, handle, request }: Pick<Logout, "context" | "handle" | "request">,
  sid: string,
  userId: string | undefined,
  clientId: string | undefined,
): Promise<void> {
  const { realm } = handle;
  await endSession(context.pool, { id: realm.id, name: realm.name }, sid);
  if (realm.settings.eventsEnabled) {
    await insertEvent(context.pool, realm.id, { type: "LOGOUT", userId, clientId, sessionId: sid, ip: request.ip });
  }
}

/** Where to go on; `undefined` for nowhere, `false` for somewhere that is not allowed. */
async function findTarget(
  { publicUrl, domain }: IdentityContext,
  { findClient }: RealmHandle,
  clientId: string | undefined,
  form: Form,
): Promise<string | undefined | false> {
  const requested = form.get("post_logout_redirect_uri") ?? form.get("redirect_uri");
  if (requested === undefined) {
    return undefined;
  }
  const client = clientId === undefined ? undefined : await findClient(clientId);
  if (client === undefined) {
    return false;
  }
  const { attributes, rootUrl, redirectUris } = client.settings;
  const registered = attributes["post.logout.redirect.uris"];
  // "+", or nothing: those of the login, as the known provider has it.
  const uris = registered === undefined || registered === "+" ? redirectUris : registered.split("##");
  if (!isRedirectAllowed(requested, { rootUrl, redirectUris: uris, publicUrl, domain })) {
    return false;
  }
  const target = new URL(requested);
  const state = form.get("state");
  if (state !== undefined) {
    target.searchParams.set("state", state);
  }
  return target.href;
}
