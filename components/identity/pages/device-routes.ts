import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { readUserCode } from "../protocol/device-authorization.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import { type PendingDevice, decideDevice, findPendingDevice } from "../store/device-grants.ts";
import { countFailure, findLock } from "../store/login-failures.ts";
import { logInForPage } from "./account-login.ts";
import type { Params, ConsoleContext } from "./account-visit.ts";
import { findBrowserSession } from "./browser-session.ts";
import { renderDecidedPage, renderDecisionPage, renderUserCodePage } from "./device-page.ts";
import { renderErrorPage } from "./error-page.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "./form-token.ts";

/** Wrong codes of one user before they wait (RFC 8628 §5.1). */
const MAX_WRONG_CODES = 10;
const BACK_OFF = { incrementSeconds: 60, maxSeconds: 3600, doubles: true };
const FORGET_AFTER_SECONDS = 3600;

const UNKNOWN = "That code is unknown or has expired. Look again at what the program shows, or begin anew there.";

/** The page where a person allows the login of a program without a browser (RFC 8628 §3.3). */
export function addDeviceRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = "/realms/:realm/account/device";
  const options = { schema: { hide: true } };
  app.get<Params>("/realms/:realm/device", options, async (request, reply) => {
    const { realm } = await findRealmOr404(context, request.params.realm);
    const { user_code: code } = request.query as { user_code?: unknown };
    const userCode = readUserCode(typeof code === "string" ? code : undefined);
    return reply.redirect(`/realms/${realm.name}/account/device${userCode === undefined ? "" : `?state=${userCode}`}`);
  });

  const open = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<ConsoleContext | undefined> => {
    const handle = await findRealmOr404(context, request.params.realm);
    void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
    const session = await findBrowserSession(context, handle, request, reply);
    return session && { context, handle, session, request, reply };
  };

  app.get<Params>(path, options, async (request, reply) => {
    const ctx = await open(request, reply);
    // The code travels through the login as its state, which comes back unchanged.
    const { state } = request.query as { state?: unknown };
    const userCode = readUserCode(typeof state === "string" ? state : undefined);
    if (ctx === undefined) {
      return logInForPage(context, request.params.realm, reply, { page: "account/device", state: userCode });
    }
    return userCode === undefined ? reply.send(renderUserCodePage(pageOf(ctx))) : callDecision(ctx, userCode);
  });

  app.post<Params>(path, options, async (request, reply) => {
    const ctx = await open(request, reply);
    if (ctx === undefined) {
      return logInForPage(context, request.params.realm, reply, { page: "account/device" });
    }
    const form = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    if (!isFormToken(ctx.handle.realm, "device", ctx.session.uid, form[FORM_TOKEN])) {
      return reply.code(403).send(
        renderErrorPage({
          title: "This form has expired",
          message: "The form did not come from this page. Go back and try again.",
        }),
      );
    }
    const userCode = readUserCode(typeof form["user_code"] === "string" ? form["user_code"] : undefined);
    if (userCode === undefined) {
      return refuse(ctx, UNKNOWN);
    }
    const { decision } = form;
    return decision === "allow" || decision === "refuse"
      ? decide(ctx, userCode, decision === "allow")
      : callDecision(ctx, userCode);
  });
}

const pageOf = ({ handle, session }: ConsoleContext) => ({
  action: `/realms/${handle.realm.name}/account/device`,
  token: makeFormToken(handle.realm, "device", session.uid),
});

const refuse = (ctx: ConsoleContext, error: string) =>
  ctx.reply.code(400).send(renderUserCodePage({ ...pageOf(ctx), error }));

/** What waits under a code. Wrong codes are counted, whichever form sends them. @returns what to tell, for a wrong one */
async function findDevice(
  { context, handle, session }: ConsoleContext,
  userCode: string,
): Promise<PendingDevice | string> {
  const { pool } = context;
  const subject = { kind: "device-code", account: session.user.username } as const;
  if ((await findLock(pool, handle.realm.id, subject)) !== undefined) {
    return "There were too many wrong codes; wait some minutes.";
  }
  const device = await findPendingDevice(pool, handle.realm.id, userCode);
  if (device === undefined) {
    await countFailure(pool, handle.realm.id, {
      subject,
      limit: MAX_WRONG_CODES,
      backOff: BACK_OFF,
      forgetAfterSeconds: FORGET_AFTER_SECONDS,
    });
  }
  return device ?? UNKNOWN;
}

async function callDecision(ctx: ConsoleContext, userCode: string): Promise<unknown> {
  const device = await findDevice(ctx, userCode);
  if (typeof device === "string") {
    return refuse(ctx, device);
  }
  const { username } = ctx.session.user;
  return ctx.reply.send(renderDecisionPage({ ...pageOf(ctx), userCode, username, device }));
}

async function decide(ctx: ConsoleContext, userCode: string, isAllowed: boolean): Promise<unknown> {
  const { context, handle, session, reply } = ctx;
  const device = await findDevice(ctx, userCode);
  if (typeof device === "string") {
    return refuse(ctx, device);
  }
  const decision = { userId: session.user.id, isAllowed };
  return (await decideDevice(context.pool, handle.realm.id, userCode, decision))
    ? reply.send(renderDecidedPage(isAllowed))
    : refuse(ctx, UNKNOWN);
}
