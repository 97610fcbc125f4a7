import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { changePassword, refusePassword } from "../login/change-password.ts";
import { handleProfile, asksForProfile } from "../protocol/account-profile.ts";
import { PROFILE } from "../variant-b/profile/visit.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { mayUsePasskeys } from "../login/passkeys.ts";
import { listPasskeys } from "../store/passkeys.ts";
import { countRecoveryCodes, listOtpDevices } from "../store/second-factors.ts";
import { endSession, endUserSessions, listSessions } from "../store/sessions.ts";
import { logInForPage } from "./account-login.ts";
import { renderAccountPage } from "./account-page.ts";
import { removeOtp, renewCodes, saveOtp, startOtp } from "./account-second-factor.ts";
import { dropPasskey, savePasskey, startPasskey } from "./account-passkeys.ts";
import {
  type AccountForm,
  type Notice,
  type Params,
  type ConsoleContext,
  refuseWrongPassword,
} from "./account-visit.ts";
import { findBrowserSession } from "./browser-session.ts";
import { renderErrorPage } from "./error-page.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "./form-token.ts";
import { PASSKEY_PAGE_HEADERS } from "./passkey-form.ts";
import { readFields } from "./read-fields.ts";
import { saveProfile } from "./save-profile.ts";

/** A user's own page: profile, password, sessions. */
export function addAccountRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = "/realms/:realm/account";
  const open = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<ConsoleContext | undefined> => {
    const handle = await findRealmOr404(context, request.params.realm);
    void reply.headers(PASSKEY_PAGE_HEADERS).type("text/html; charset=utf-8");
    const session = await findBrowserSession(context, handle, request, reply);
    return session && { context, handle, session, request, reply };
  };

  app.get<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    if (asksForProfile(request)) {
      return handleProfile(context, await findRealmOr404(context, request.params.realm), request, reply);
    }
    const ctx = await open(request, reply);
    return ctx === undefined ? logInForPage(context, request.params.realm, reply, { page: "account" }) : show(ctx, {});
  });
  app.post<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const ctx = await open(request, reply);
    if (ctx === undefined) {
      return logInForPage(context, request.params.realm, reply, { page: "account" });
    }
    const form = readFields(request);
    if (!isFormToken(ctx.handle.realm, "account", ctx.session.uid, form[FORM_TOKEN])) {
      return reply.code(403).send(
        renderErrorPage({
          title: "This form has expired",
          message: "The form did not come from this page. Go back and try again.",
        }),
      );
    }
    switch (form["action"]) {
      case "profile":
        return show(ctx, await saveProfile(ctx, form));
      case "password":
        return show(ctx, await savePassword(ctx, form));
      case "otp-start":
        return sendOrShow(ctx, await startOtp(ctx, form));
      case "otp-save":
        return sendOrShow(ctx, await saveOtp(ctx, form));
      case "otp-remove":
        return show(ctx, await removeOtp(ctx, form));
      case "passkey-start":
        return sendOrShow(ctx, await startPasskey(ctx, form));
      case "passkey-save":
        return sendOrShow(ctx, await savePasskey(ctx, form));
      case "passkey-remove":
        return show(ctx, await dropPasskey(ctx, form));
      case "recovery-codes":
        return sendOrShow(ctx, await renewCodes(ctx, form));
      case "kept":
        return show(ctx, { good: "Your second factor is set up." });
      case "session":
        return show(ctx, await signOut(ctx, form["session"]));
      default:
        return show(ctx, { bad: "There is no such action." });
    }
  });
}

/** Sends a page of its own, or the account page with what there is to say. */
const sendOrShow = (ctx: ConsoleContext, outcome: string | Notice): unknown =>
  typeof outcome === "string" ? ctx.reply.send(outcome) : show(ctx, outcome);

async function show(ctx: ConsoleContext, { good, bad }: Notice): Promise<unknown> {
  const { context, handle, session, reply, request } = ctx;
  if (request.method === "GET" && request.url.includes("?")) {
    // The code of the way in has no business in the address bar.
    return reply.redirect(`/realms/${handle.realm.name}/account`);
  }
  // As it is now, after what was just changed.
  const current = (await findBrowserSession(context, handle, request, reply)) ?? session;
  const sessions = await listSessions(context.pool, handle.realm.id, { userId: session.user.id, first: 0, max: 100 });
  return reply.code(bad === undefined ? 200 : 400).send(
    renderAccountPage({
      realm: handle.realm.name,
      user: current.user,
      token: makeFormToken(handle.realm, "account", session.uid),
      devices: await listOtpDevices(context.pool, session.user.id),
      passkeys: await listPasskeys(context.pool, session.user.id),
      mayAddPasskeys: mayUsePasskeys(context),
      recoveryCodes: await countRecoveryCodes(context.pool, session.user.id),
      sessions,
      current: session.uid,
      minimumLength: handle.realm.settings.passwordMinimumLength,
      profilePath:
        context.login?.profile !== undefined && context.login.realm === handle.realm.name ? PROFILE : undefined,
      good,
      bad,
    }),
  );
}

async function savePassword(ctx: ConsoleContext, form: AccountForm): Promise<Notice> {
  const { context, handle, session, request } = ctx;
  const { user } = session;
  const wrong = await refuseWrongPassword(ctx, form["password"], "UPDATE_PASSWORD_ERROR");
  if (wrong !== undefined) {
    return { bad: wrong };
  }
  const chosen = form["new_password"] ?? "";
  if (chosen !== form["new_password_again"]) {
    return { bad: "The two new passwords are not the same." };
  }
  const refused = await refusePassword(context, handle, user, chosen);
  if (refused !== undefined) {
    return { bad: refused };
  }
  await changePassword(context, handle, {
    user,
    password: chosen,
    temporary: false,
    keepSession: session.uid,
    ip: request.ip,
  });
  return { good: "Your password is changed; you are logged out everywhere else." };
}

async function signOut({ context, handle, session }: ConsoleContext, requested: string | undefined): Promise<Notice> {
  const realm = { id: handle.realm.id, name: handle.realm.name };
  if (requested === "others") {
    await endUserSessions(context.pool, realm, session.user.id, session.uid);
    return { good: "You are logged out everywhere else." };
  }
  const own = await listSessions(context.pool, realm.id, { userId: session.user.id, first: 0, max: 1000 });
  if (requested === undefined || !own.some(({ id }) => id === requested)) {
    return { bad: "That session has ended already." };
  }
  await endSession(context.pool, realm, requested);
  return { good: "That session has ended." };
}
