import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type Provider from "oidc-provider";

import type { IdentityContext } from "../context.ts";
import { authenticateUser } from "../login/authenticate-user.ts";
import { changePassword, refusePassword } from "../login/change-password.ts";
import { toEngineRequest } from "../oidc/engine-request.ts";
import { SECURITY_HEADERS, findProvider, interactionPath } from "../oidc/provider.ts";
import { findRealmOr404 } from "../protocol/realm-scope.ts";
import type { RealmHandle } from "../realms/realm-cache.ts";
import { insertEvent } from "../store/events.ts";
import { endSession } from "../store/sessions.ts";
import { type User, findPassword, findUser } from "../store/users.ts";
import { findLogin } from "./browser-session.ts";
import { renderErrorPage } from "./error-page.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "./form-token.ts";
import { renderConsentPage, renderLoginPage, renderNewPasswordPage } from "./login-page.ts";

type Params = { Params: { realm: string; uid: string } };
type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** A question to the person in the browser that the protocol engine has: log in, choose a password, agree. */
interface Question {
  readonly context: IdentityContext;
  readonly handle: RealmHandle;
  readonly provider: Provider;
  readonly interaction: Interaction;
  readonly request: FastifyRequest<Params>;
  readonly reply: FastifyReply;
}

const WRONG = "That user name and password do not fit together.";
const DISABLED = "This account is disabled; ask your administrator.";

/** The pages between the authorization endpoint and the way back to the client. */
export function addInteractionRoutes(app: FastifyInstance, context: IdentityContext): void {
  const path = interactionPath(":realm", ":uid");
  const open = async (request: FastifyRequest<Params>, reply: FastifyReply): Promise<Question | undefined> => {
    const handle = await findRealmOr404(context, request.params.realm);
    const provider = findProvider(context, handle);
    void reply.headers(SECURITY_HEADERS).type("text/html; charset=utf-8");
    try {
      const raw = toEngineRequest(context.publicUrl, request);
      const interaction = await provider.interactionDetails(raw, reply.raw);
      if (interaction.uid === request.params.uid) {
        return { context, handle, provider, interaction, request, reply };
      }
    } catch (error) {
      if (!(error instanceof Error && error.name === "SessionNotFound")) {
        throw error;
      }
    }
    return undefined;
  };
  const expired = (reply: FastifyReply) =>
    reply.code(400).send(
      renderErrorPage({
        title: "This login has expired",
        message:
          "It took too long, was finished in another window, or cookies are blocked. Go back to the application and try again.",
      }),
    );

  app.get<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const question = await open(request, reply);
    return question === undefined ? expired(reply) : ask(question);
  });
  app.post<Params>(path, { schema: { hide: true } }, async (request, reply) => {
    const question = await open(request, reply);
    if (question === undefined) {
      return expired(reply);
    }
    const form = (request.body ?? {}) as Readonly<Record<string, unknown>>;
    if (!isFormToken(question.handle.realm, "interaction", question.interaction.uid, form[FORM_TOKEN])) {
      return reply.code(403).send(
        renderErrorPage({
          title: "Not from this page",
          message: "The form did not come from this page. Go back and try again.",
        }),
      );
    }
    return answer(question, form);
  });
}

async function ask({ context, handle, interaction, request, reply }: Question, error?: string): Promise<unknown> {
  const page = await toPage({ context, handle, interaction, request }, error);
  return reply.code(error === undefined ? 200 : 400).send(page);
}

async function toPage(
  { handle, interaction, request }: Pick<Question, "context" | "handle" | "interaction" | "request">,
  error?: string,
): Promise<string> {
  const { realm } = handle;
  const action = interactionPath(realm.name, interaction.uid);
  const token = makeFormToken(realm, "interaction", interaction.uid);
  const clientId = text(interaction.params["client_id"]);
  const client = await handle.findClient(clientId);
  const clientName = client?.settings.name || clientId;
  if (interaction.prompt.name === "consent") {
    const { missingOIDCScope } = interaction.prompt.details as { missingOIDCScope?: readonly string[] };
    return renderConsentPage({ action, token, clientName, scopes: missingOIDCScope ?? [] });
  }
  const username = (request.body as { username?: unknown } | undefined)?.username ?? interaction.params["login_hint"];
  return renderLoginPage({ action, token, clientName, username: typeof username === "string" ? username : "", error });
}

async function answer(question: Question, form: Readonly<Record<string, unknown>>): Promise<unknown> {
  if (question.interaction.prompt.name === "consent") {
    return answerConsent(question, form["consent"] === "yes");
  }
  const chosen = form["new_password"];
  const shown = question.interaction.result?.["shown"] as ShownPassword | undefined;
  return typeof chosen === "string" && shown !== undefined
    ? answerNewPassword(question, shown, chosen, form["new_password_again"])
    : answerLogin(question, text(form["username"]), text(form["password"]));
}

/** Whose password was shown in this interaction, and since when that password has been the user's. */
interface ShownPassword {
  readonly of: string;
  readonly since: string | undefined;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");

async function answerLogin(question: Question, username: string, password: string): Promise<unknown> {
  const { context, handle, interaction, request, reply } = question;
  const clientId = text(interaction.params["client_id"]);
  const result = await authenticateUser(context, handle, { username, password, clientId, ip: request.ip });
  switch (result.kind) {
    case "wrong":
      return ask(question, WRONG);
    case "disabled":
      return ask(question, DISABLED);
    case "locked": {
      const minutes = Math.max(1, Math.ceil((result.until.getTime() - Date.now()) / 60_000));
      return ask(
        question,
        `There were too many failed logins. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}.`,
      );
    }
    case "in":
      break;
  }
  if (result.mustChangePassword) {
    // Remembered with the interaction, so that only who has just shown the old password may choose a new one.
    const stored = await findPassword(context.pool, result.user.id);
    const shown: ShownPassword = { of: result.user.id, since: stored?.changedAt.toISOString() };
    interaction.result = { shown };
    await interaction.persist();
    return reply.send(newPasswordPage(question, result.user));
  }
  return finishLogin(question, result.user);
}

function newPasswordPage({ handle, interaction }: Question, user: User, error?: string): string {
  const { realm } = handle;
  return renderNewPasswordPage({
    action: interactionPath(realm.name, interaction.uid),
    token: makeFormToken(realm, "interaction", interaction.uid),
    username: user.username,
    minimumLength: realm.settings.passwordMinimumLength,
    error,
  });
}

async function answerNewPassword(
  question: Question,
  shown: ShownPassword,
  chosen: string,
  again: unknown,
): Promise<unknown> {
  const { context, handle, request, reply } = question;
  const user = await findUser(context.pool, handle.realm.id, shown.of);
  const stored = await findPassword(context.pool, shown.of);
  // Changed or reset meanwhile: who has shown the password before that one has shown nothing.
  if (user === undefined || stored?.changedAt.toISOString() !== shown.since) {
    return ask(question, WRONG);
  }
  if (!user.enabled) {
    return ask(question, DISABLED);
  }
  let error =
    chosen === again ? await refusePassword(context, handle, user, chosen) : "The two passwords are not the same.";
  if (error === undefined && (await context.hasher.verify(stored?.hash, chosen))) {
    error = "The new password must not be the one that you were given.";
  }
  if (error !== undefined) {
    return reply.code(400).send(newPasswordPage(question, user, error));
  }
  await changePassword(context, handle, { user, password: chosen, temporary: false, ip: request.ip });
  return finishLogin(question, user);
}

async function finishLogin(question: Question, user: User): Promise<void> {
  const { context, handle, interaction, request } = question;
  const { realm } = handle;
  if (realm.settings.eventsEnabled) {
    await insertEvent(context.pool, realm.id, {
      type: "LOGIN",
      userId: user.id,
      clientId: text(interaction.params["client_id"]),
      ip: request.ip,
      details: { username: user.username, grant: "authorization_code" },
    });
  }
  await endLoginOfAnother(question, user);
  await finish(question, { login: { accountId: user.id, remember: true } });
}

/** Who logs in where somebody else is logged in takes the browser over: nothing of the other's session is left in it. */
async function endLoginOfAnother(
  { context, handle, interaction, request, reply }: Question,
  user: User,
): Promise<void> {
  const { realm } = handle;
  const login = await findLogin(context, handle, request, reply);
  if (login === undefined || login.accountId === user.id) {
    return;
  }
  await endSession(context.pool, { id: realm.id, name: realm.name }, login.uid);
  if (realm.settings.eventsEnabled) {
    await insertEvent(context.pool, realm.id, {
      type: "LOGOUT",
      userId: login.accountId,
      sessionId: login.uid,
      ip: request.ip,
    });
  }
  if (interaction.session !== undefined) {
    // The engine goes on only in the session that the interaction began in, which is no more.
    delete interaction.session;
    await interaction.persist();
  }
}

async function answerConsent(question: Question, agreed: boolean): Promise<void> {
  const { context, handle, interaction, provider, request } = question;
  if (!agreed) {
    await finish(question, { error: "access_denied", error_description: "The user did not agree" });
    return;
  }
  const { missingOIDCScope = [] } = interaction.prompt.details as { missingOIDCScope?: readonly string[] };
  const accountId = interaction.session?.accountId;
  const clientId = text(interaction.params["client_id"]);
  const known = interaction.grantId === undefined ? undefined : await provider.Grant.find(interaction.grantId);
  const grant = known ?? new provider.Grant({ ...(accountId !== undefined && { accountId }), clientId });
  grant.addOIDCScope(missingOIDCScope.join(" "));
  const grantId = await grant.save();
  await insertEvent(context.pool, handle.realm.id, {
    type: "GRANT_CONSENT",
    userId: accountId,
    clientId,
    ip: request.ip,
  });
  // With the login just before, if there was one: a login that the client demanded is not demanded again.
  await finish(question, { ...interaction.lastSubmission, consent: { grantId } });
}

/** Back to the engine, which goes on from there. */
async function finish(
  { context, provider, request, reply }: Question,
  result: Parameters<Provider["interactionFinished"]>[2],
): Promise<void> {
  const raw = toEngineRequest(context.publicUrl, request);
  reply.hijack();
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) {
    reply.raw.setHeader(name, value);
  }
  await provider.interactionFinished(raw, reply.raw, result, { mergeWithLastSubmission: false });
}
