import { randomUUID } from "node:crypto";

import { html } from "@swath/pages";

import { runChange } from "../admin/request.ts";
import { addPasskey, describeNewPasskey, makeChallenge, mayUsePasskeys, removePasskey } from "../login/passkeys.ts";
import { type AccountForm, type Notice, type ConsoleContext, refuseWrongPassword } from "./account-visit.ts";
import { isFormToken, makeFormToken } from "./form-token.ts";
import { renderPage } from "./layout.ts";
import { renderPasskeyForm } from "./passkey-form.ts";
import { renderRecoveryCodesPage } from "./second-factor-page.ts";

const ATTEMPT = "attempt";
const ATTEMPT_TOKEN = "attempt_token";
const NOT_SET_UP = "That passkey was not set up; begin it again.";

const pageOf = ({ handle, session }: ConsoleContext) => ({
  action: `/realms/${handle.realm.name}/account`,
  token: makeFormToken(handle.realm, "account", session.uid),
});
const challengeOf = ({ handle, session }: ConsoleContext, attempt: string) =>
  makeChallenge(handle, "account", `${session.uid} ${attempt}`);
const bindingOf = ({ session }: ConsoleContext, attempt: string) => `${session.uid} ${attempt}`;

/** Asks the authenticator of who knows the password for a new passkey. The token says that the password was shown, in this session. */
export async function startPasskey(ctx: ConsoleContext, form: AccountForm): Promise<string | Notice> {
  const { context, handle, session } = ctx;
  const wrong = await refuseWrongPassword(ctx, form["password"], "UPDATE_CREDENTIAL_ERROR");
  if (wrong !== undefined || !mayUsePasskeys(context)) {
    return { bad: wrong ?? "Passkeys cannot be used at this address." };
  }
  const attempt = randomUUID();
  const { action, token } = pageOf(ctx);
  return renderPage({
    title: "Set up a passkey",
    content: html`<h1>Set up a passkey</h1>
      <p>This device, or a security key, then logs you in. It asks you for its own PIN or your fingerprint.</p>
      ${renderPasskeyForm({
        action,
        token,
        kind: "create",
        options: await describeNewPasskey(context, handle, session.user, challengeOf(ctx, attempt)),
        button: "Set up the passkey",
        content: html`<input type="hidden" name="action" value="passkey-save" />
          <input type="hidden" name="${ATTEMPT}" value="${attempt}" />
          <input
            type="hidden"
            name="${ATTEMPT_TOKEN}"
            value="${makeFormToken(handle.realm, "passkey", bindingOf(ctx, attempt))}"
          />
          <label for="label">Name of the passkey</label>
          <input id="label" name="label" value="Passkey" maxlength="100" required />`,
      })}
      <noscript><p>Passkeys need scripts, which this browser does not run here.</p></noscript>
      <p><a href="${action}">Back to your account</a></p>`,
  });
}

export async function savePasskey(ctx: ConsoleContext, form: AccountForm): Promise<string | Notice> {
  const { context, handle, session, request } = ctx;
  const attempt = form[ATTEMPT] ?? "";
  if (!isFormToken(handle.realm, "passkey", bindingOf(ctx, attempt), form[ATTEMPT_TOKEN])) {
    return { bad: NOT_SET_UP };
  }
  const codes = await addPasskey(context, handle, {
    user: session.user,
    challenge: challengeOf(ctx, attempt),
    answer: form["passkey"] ?? "",
    label: form["label"] ?? "",
    ip: request.ip,
  });
  if (codes === undefined) {
    return { bad: NOT_SET_UP };
  }
  return codes.length === 0 ? { good: "The passkey is set up." } : renderRecoveryCodesPage({ ...pageOf(ctx), codes });
}

export async function dropPasskey(ctx: ConsoleContext, form: AccountForm): Promise<Notice> {
  const { context, handle, session, request } = ctx;
  const wrong = await refuseWrongPassword(ctx, form["password"], "REMOVE_CREDENTIAL_ERROR");
  if (wrong !== undefined) {
    return { bad: wrong };
  }
  const removal = { user: session.user, passkey: form["device"] ?? "", ip: request.ip };
  return (await runChange(context, (db) => removePasskey(db, handle, removal)))
    ? { good: "The passkey is removed." }
    : { bad: "That passkey was removed already." };
}
