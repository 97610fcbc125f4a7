import { findWait } from "../login/limits.ts";
import { authenticateUser } from "../login/authenticate-user.ts";
import { changePassword, refusePassword } from "../login/change-password.ts";
import { makeOtpSecret } from "../login/one-time-codes.ts";
import {
  addPasskey,
  describeNewPasskey,
  describePasskeyUse,
  makeChallenge,
  mayUsePasskeys,
  provePasskey,
} from "../login/passkeys.ts";
import { findSecondFactorNeed, proveSecondFactor, setUpOtp } from "../login/second-factor.ts";
import { insertEvent } from "../store/events.ts";
import { endSession } from "../store/sessions.ts";
import { type User, type UserAccess, findPassword, findUserWithAccess } from "../store/users.ts";
import { findLogin } from "./browser-session.ts";
import { renderNewPasswordPage } from "./login-page.ts";
import { FACTOR_CHALLENGE, LOGIN_CHALLENGE, type Question, send, finish, formOf, text } from "./question.ts";
import { renderCodePage, renderRecoveryCodesPage, renderSetUpPage } from "./second-factor-page.ts";

type Form = Readonly<Record<string, unknown>>;

const WRONG = "That user name and password do not fit together.";
const DISABLED = "This account is disabled; ask your administrator.";
const WRONG_PASSKEY = "That passkey is not known here, or was not right.";
const WRONG_CODE = "That code is not right, or was used before.";

/** How far a login is. Kept with the interaction, so that only who has just shown the password goes on. */
interface LoginProgress {
  readonly user: string;
  /** Since when the password that was shown has been the user's. */
  readonly since: string | undefined;
  readonly mustChangePassword: boolean;
  /** The second factor was shown, or has just been set up. */
  readonly hasProven: boolean;
  /** Of the device that is being set up. */
  readonly secret?: string;
}

/** Reads what was sent from a page of a login, and sends the next page or ends the login. */
export async function respondLogin(question: Question, form: Form): Promise<unknown> {
  const progress = question.interaction.result?.["login_progress"] as LoginProgress | undefined;
  if (progress === undefined && "passkey" in form) {
    return respondPasskeyLogin(question, text(form["passkey"]));
  }
  // The page for a new password names the user, too, for password managers.
  if (progress === undefined || ("username" in form && !("new_password" in form))) {
    return respondPassword(question, text(form["username"]), text(form["password"]));
  }
  const { context, handle } = question;
  const found = await findUserWithAccess(context.pool, handle.realm.id, progress.user);
  const stored = await findPassword(context.pool, progress.user);
  // Changed or reset meanwhile: who has shown the password before that one has shown nothing.
  if (found === undefined || stored?.changedAt.toISOString() !== progress.since) {
    return send(question, WRONG);
  }
  if (!found.user.enabled) {
    return send(question, DISABLED);
  }
  return respondStep({ ...found, question, progress }, form);
}

async function respondPassword(question: Question, username: string, password: string): Promise<unknown> {
  const { context, handle, interaction, request } = question;
  const clientId = text(interaction.params["client_id"]);
  const result = await authenticateUser(context, handle, { username, password, clientId, ip: request.ip });
  switch (result.kind) {
    case "wrong":
      return send(question, WRONG);
    case "disabled":
      return send(question, DISABLED);
    case "locked":
      return send(question, tellWait(question, result.until));
    case "in":
      break;
  }
  const { user, access, mustChangePassword } = result;
  const since = (await findPassword(context.pool, user.id))?.changedAt.toISOString();
  const progress: LoginProgress = { user: user.id, since, mustChangePassword, hasProven: false };
  return goOn({ question, progress, user, access });
}

/** Whose passkey answered has shown both what he has and, to his authenticator, who he is: no password is asked. */
async function respondPasskeyLogin(question: Question, response: string): Promise<unknown> {
  const { context, handle, interaction, request } = question;
  const challenge = makeChallenge(handle, LOGIN_CHALLENGE, interaction.uid);
  const userId = await provePasskey(context, handle, { challenge, answer: response });
  const found = userId === undefined ? undefined : await findUserWithAccess(context.pool, handle.realm.id, userId);
  if (found === undefined || !found.user.enabled) {
    if (handle.realm.settings.eventsEnabled) {
      await insertEvent(context.pool, handle.realm.id, {
        type: "LOGIN_ERROR",
        userId,
        clientId: text(interaction.params["client_id"]),
        ip: request.ip,
        error: found === undefined ? "invalid_passkey" : "user_disabled",
      });
    }
    return send(question, found === undefined ? WRONG_PASSKEY : DISABLED);
  }
  const stored = await findPassword(context.pool, found.user.id);
  const progress: LoginProgress = {
    user: found.user.id,
    since: stored?.changedAt.toISOString(),
    mustChangePassword: stored?.temporary === true,
    hasProven: true,
  };
  return goOn({ ...found, question, progress });
}

function tellWait({ reply }: Question, until: Date): string {
  const seconds = Math.max(1, Math.ceil((until.getTime() - Date.now()) / 1000));
  void reply.header("retry-after", String(seconds));
  const minutes = Math.ceil(seconds / 60);
  return `There were too many failed logins. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}.`;
}

/** A login of a user who has shown the password. */
interface Login {
  readonly question: Question;
  readonly progress: LoginProgress;
  readonly user: User;
  readonly access: UserAccess;
}

type Step = "code" | "password" | "set-up" | "done";

/** The second factor comes before a new password: who has found a temporary one must not choose the next. */
function findStep({ question: { handle }, progress, user, access }: Login): Step {
  const need = progress.hasProven ? "none" : findSecondFactorNeed(handle, user, access);
  if (need === "code") {
    return "code";
  }
  return progress.mustChangePassword ? "password" : need === "set-up" ? "set-up" : "done";
}

async function goOn(login: Login): Promise<unknown> {
  const { question, user } = login;
  const step = findStep(login);
  if (step === "done") {
    return finishLogin(question, user);
  }
  const progress: LoginProgress = step === "set-up" ? { ...login.progress, secret: makeOtpSecret() } : login.progress;
  await keep(question, progress);
  return question.reply.send(await toPage({ ...login, progress }, step));
}

async function keep({ interaction }: Question, progress: LoginProgress): Promise<void> {
  interaction.result = { login_progress: progress };
  await interaction.persist();
}

async function toPage(login: Login, step: Exclude<Step, "done">, error?: string): Promise<string> {
  const { question, progress, user } = login;
  const { context, handle, interaction } = question;
  const { realm } = handle;
  const challenge = makeChallenge(handle, FACTOR_CHALLENGE, interaction.uid);
  const page = { ...formOf(question), username: user.username, error };
  switch (step) {
    case "code":
      return renderCodePage({
        ...page,
        hasCodes: user.hasOtp,
        passkeyOptions:
          user.hasPasskey && mayUsePasskeys(context) ? await describePasskeyUse(context, user, challenge) : undefined,
      });
    case "password":
      return renderNewPasswordPage({ ...page, minimumLength: realm.settings.passwordMinimumLength });
    case "set-up":
      return renderSetUpPage({
        ...page,
        secret: progress.secret ?? "",
        issuer: realm.displayName || realm.name,
        passkeyOptions: mayUsePasskeys(context)
          ? await describeNewPasskey(context, handle, user, challenge)
          : undefined,
      });
  }
}

async function respondStep(login: Login, form: Form): Promise<unknown> {
  const { question, progress } = login;
  const step = findStep(login);
  const again = async (error: string) =>
    question.reply.code(400).send(await toPage(login, step as Exclude<Step, "done">, error));
  if (step === "code" && "passkey" in form) {
    return respondPasskey(login, text(form["passkey"]), again);
  }
  if (step === "set-up" && "passkey" in form) {
    return respondNewPasskey(login, text(form["passkey"]), again);
  }
  if (step === "code" && "code" in form) {
    return respondCode(login, text(form["code"]), again);
  }
  if (step === "password" && "new_password" in form) {
    return respondNewPassword(login, text(form["new_password"]), form["new_password_again"], again);
  }
  if (step === "set-up" && "setup_code" in form && progress.secret !== undefined) {
    return respondSetUp(login, progress.secret, form, again);
  }
  return goOn(login);
}

type Again = (error: string) => unknown;

async function respondCode(login: Login, code: string, again: Again): Promise<unknown> {
  const { question, progress, user } = login;
  const { context, handle, interaction, request } = question;
  const clientId = text(interaction.params["client_id"]);
  switch (await proveSecondFactor(context, handle, { user, code, clientId, ip: request.ip })) {
    case "right":
      return goOn({ ...login, progress: { ...progress, hasProven: true } });
    case "wrong":
      return again(WRONG_CODE);
    case "locked": {
      const until = await findWait(context.pool, handle.realm, { username: user.username, ip: request.ip });
      return again(tellWait(question, until ?? new Date()));
    }
  }
}

async function respondPasskey(login: Login, response: string, again: Again): Promise<unknown> {
  const { question, progress, user } = login;
  const { context, handle, interaction } = question;
  const challenge = makeChallenge(handle, FACTOR_CHALLENGE, interaction.uid);
  const isRight = (await provePasskey(context, handle, { challenge, answer: response, userId: user.id })) !== undefined;
  return isRight ? goOn({ ...login, progress: { ...progress, hasProven: true } }) : again(WRONG_PASSKEY);
}

async function respondNewPasskey(login: Login, response: string, again: Again): Promise<unknown> {
  const { question, progress, user } = login;
  const { context, handle, interaction, request, reply } = question;
  const challenge = makeChallenge(handle, FACTOR_CHALLENGE, interaction.uid);
  const codes = await addPasskey(context, handle, {
    user,
    challenge,
    answer: response,
    label: "Passkey",
    ip: request.ip,
  });
  if (codes === undefined) {
    return again("That passkey was not set up. Try again.");
  }
  const { secret: _unused, ...rest } = progress;
  await keep(question, { ...rest, hasProven: true });
  return reply.send(renderRecoveryCodesPage({ ...formOf(question), codes }));
}

async function respondNewPassword(login: Login, chosen: string, repeated: unknown, again: Again): Promise<unknown> {
  const { question, progress, user } = login;
  const { context, handle, request } = question;
  const stored = await findPassword(context.pool, user.id);
  let error =
    chosen === repeated ? await refusePassword(context, handle, user, chosen) : "The two passwords are not the same.";
  if (error === undefined && (await context.hasher.verify(stored?.hash, chosen))) {
    error = "The new password must not be the one that you were given.";
  }
  if (error !== undefined) {
    return again(error);
  }
  await changePassword(context, handle, { user, password: chosen, temporary: false, ip: request.ip });
  const since = (await findPassword(context.pool, user.id))?.changedAt.toISOString();
  return goOn({ ...login, progress: { ...progress, since, mustChangePassword: false } });
}

async function respondSetUp(login: Login, secret: string, form: Form, again: Again): Promise<unknown> {
  const { question, progress, user } = login;
  const { context, handle, reply, request } = question;
  const codes = await setUpOtp(context, handle, {
    user,
    secret,
    code: text(form["setup_code"]),
    label: text(form["device"]),
    ip: request.ip,
  });
  if (codes === undefined) {
    return again("That code is not right. Look whether the clock of your device is.");
  }
  const { secret: _used, ...rest } = progress;
  await keep(question, { ...rest, hasProven: true });
  return reply.send(renderRecoveryCodesPage({ ...formOf(question), codes }));
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
