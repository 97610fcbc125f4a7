import { randomBytes } from "node:crypto";

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { IdentityContext } from "../context.ts";
import { changePassword, refusePassword } from "../login/change-password.ts";
import { SECURITY_HEADERS, authorizationPath } from "../oidc/provider.ts";
import { answerProfile, asksForProfile } from "../protocol/account-profile.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { isDuplicate } from "../store/database.ts";
import { insertEvent } from "../store/events.ts";
import { findWait, noteFailure } from "../login/limits.ts";
import { forgetFailures } from "../store/login-failures.ts";
import { endSession, endUserSessions, listSessions } from "../store/sessions.ts";
import { announceUser, findPassword, updateUser } from "../store/users.ts";
import { renderAccountPage } from "./account-page.ts";
import { type BrowserSession, findBrowserSession } from "./browser-session.ts";
import { renderErrorPage } from "./error-page.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "./form-token.ts";

type Params = { Params: { realm: string } };

interface Visit {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly session: BrowserSession;
  readonly request: FastifyRequest<Params>;
  readonly reply: FastifyReply;
}

interface Notice {
  readonly good?: string;
  readonly bad?: string;
}

/** A user's own page: profile, password, sessions. */
export function addAccountRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = "/realms/:realm/account";
  const open = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<Visit | undefined> => {
    const handle = await findRealmOr404(context, request.params.realm);
    void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
    const session = await findBrowserSession(context, handle, request, reply);
    return session && { context, handle, session, request, reply };
  };

  app.get<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    if (asksForProfile(request)) {
      return answerProfile(context, await findRealmOr404(context, request.params.realm), request, reply);
    }
    const visit = await open(request, reply);
    return visit === undefined ? logIn(context, request.params.realm, reply) : show(visit, {});
  });
  app.post<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const visit = await open(request, reply);
    if (visit === undefined) {
      return logIn(context, request.params.realm, reply);
    }
    const form = (request.body ?? {}) as Readonly<Record<string, string>>;
    if (!isFormToken(visit.handle.realm, "account", visit.session.uid, form[FORM_TOKEN])) {
      return reply.code(403).send(
        renderErrorPage({
          title: "Not from this page",
          message: "The form did not come from this page. Go back and try again.",
        }),
      );
    }
    switch (form["action"]) {
      case "profile":
        return show(visit, await saveProfile(visit, form));
      case "password":
        return show(visit, await savePassword(visit, form));
      case "session":
        return show(visit, await signOut(visit, form["session"]));
      default:
        return show(visit, { bad: "There is no such action." });
    }
  });
}

/** Through the authorization endpoint and back; the code that comes along is not needed, the browser session is. */
function logIn({ publicUrl }: IdentityContext, realm: string, reply: FastifyReply) {
  const back = `${publicUrl}/realms/${realm}/account`;
  const query = new URLSearchParams({
    client_id: "account",
    response_type: "code",
    scope: "openid",
    redirect_uri: back,
    // Nobody redeems the code, so this is the hash of nothing that anybody knows.
    code_challenge: randomBytes(32).toString("base64url"),
    code_challenge_method: "S256",
  });
  return reply.redirect(`${authorizationPath(realm)}?${query.toString()}`);
}

async function show(visit: Visit, { good, bad }: Notice): Promise<unknown> {
  const { context, handle, session, reply, request } = visit;
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
      sessions,
      current: session.uid,
      minimumLength: handle.realm.settings.passwordMinimumLength,
      good,
      bad,
    }),
  );
}

async function saveProfile(
  { context, handle, session, request }: Visit,
  form: Readonly<Record<string, string>>,
): Promise<Notice> {
  const { user } = session;
  const email = (form["email"] ?? "").trim();
  const [firstName, lastName] = [form["first_name"] ?? "", form["last_name"] ?? ""].map((part) => part.trim());
  if (email !== "" && !/^[^\s@<>"]{1,64}@[^\s@<>"]{1,190}$/.test(email)) {
    return { bad: "That is not an e-mail address." };
  }
  if ([firstName, lastName].some((part) => part !== undefined && part.length > 255)) {
    return { bad: "A name must not be longer than 255 characters." };
  }
  try {
    await updateUser(context.pool, user.id, {
      ...user,
      email: email || undefined,
      emailVerified: email === user.email && user.emailVerified,
      firstName: firstName || undefined,
      lastName: lastName || undefined,
    });
  } catch (error) {
    if (isDuplicate(error)) {
      return { bad: "That e-mail address cannot be used." };
    }
    throw error;
  }
  await announceUser(context.pool, handle.realm.name, user.id);
  await insertEvent(context.pool, handle.realm.id, { type: "UPDATE_PROFILE", userId: user.id, ip: request.ip });
  return { good: "Your profile is saved." };
}

async function savePassword(visit: Visit, form: Readonly<Record<string, string>>): Promise<Notice> {
  const { context, handle, session, request } = visit;
  const { pool, hasher } = context;
  const { realm } = handle;
  const { user } = session;
  // The same count as for logins, so that a stolen session is no way to guess.
  const guesser = { username: user.username, ip: request.ip };
  const stored = await findPassword(pool, user.id);
  // In one turn, so that of many that come at once none is compared after there were too many.
  const outcome = await hasher.inTurn(async (compare) => {
    if ((await findWait(pool, realm, guesser)) !== undefined) {
      return "locked";
    }
    if (await compare(stored?.hash, form["password"] ?? "")) {
      return "right";
    }
    await noteFailure(pool, realm, guesser);
    return "wrong";
  });
  if (outcome === "locked") {
    return { bad: "There were too many failed attempts; wait some minutes." };
  }
  if (outcome === "wrong") {
    await insertEvent(pool, realm.id, {
      type: "UPDATE_PASSWORD_ERROR",
      userId: user.id,
      ip: request.ip,
      error: "invalid_user_credentials",
    });
    return { bad: "The current password is not right." };
  }
  await forgetFailures(pool, realm.id, `user:${user.username}`);
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

async function signOut({ context, handle, session }: Visit, wanted: string | undefined): Promise<Notice> {
  const realm = { id: handle.realm.id, name: handle.realm.name };
  if (wanted === "others") {
    await endUserSessions(context.pool, realm, session.user.id, session.uid);
    return { good: "You are logged out everywhere else." };
  }
  const own = await listSessions(context.pool, realm.id, { userId: session.user.id, first: 0, max: 1000 });
  if (wanted === undefined || !own.some(({ id }) => id === wanted)) {
    return { bad: "That session has ended already." };
  }
  await endSession(context.pool, realm, wanted);
  return { good: "That session has ended." };
}
