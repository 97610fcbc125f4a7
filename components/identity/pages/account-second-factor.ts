import { html } from "@swath/pages";

import { runChange } from "../admin/request.ts";
import { isOtpSecret, makeOtpSecret } from "../login/one-time-codes.ts";
import { removeOtpDevice, renewRecoveryCodes, setUpOtp } from "../login/second-factor.ts";
import { type AccountForm, type Notice, type ConsoleContext, refuseWrongPassword } from "./account-visit.ts";
import { FORM_TOKEN, isFormToken, makeFormToken } from "./form-token.ts";
import { renderPage } from "./layout.ts";
import { renderOtpFields, renderRecoveryCodesPage } from "./second-factor-page.ts";

const OTP_TOKEN = "otp_token";

/** Shows a new secret to who knows the password. The token binds it to the session: no other secret is taken. */
export async function startOtp(ctx: ConsoleContext, form: AccountForm): Promise<string | Notice> {
  const wrong = await refuseWrongPassword(ctx, form["password"], "UPDATE_TOTP_ERROR");
  return wrong === undefined ? renderSetUp(ctx, makeOtpSecret()) : { bad: wrong };
}

const pageOf = ({ handle, session }: ConsoleContext) => ({
  action: `/realms/${handle.realm.name}/account`,
  token: makeFormToken(handle.realm, "account", session.uid),
});

const bindingOf = ({ session }: ConsoleContext, secret: string) => `${session.uid} ${secret}`;

function renderSetUp(ctx: ConsoleContext, secret: string, error?: string): string {
  const { handle, session } = ctx;
  const { realm } = handle;
  const { action, token } = pageOf(ctx);
  return renderPage({
    title: "Set up one-time codes",
    content: html`<h1>Set up one-time codes</h1>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <input type="hidden" name="action" value="otp-save" />
        <input type="hidden" name="secret" value="${secret}" />
        <input type="hidden" name="${OTP_TOKEN}" value="${makeFormToken(realm, "otp", bindingOf(ctx, secret))}" />
        ${renderOtpFields({ secret, username: session.user.username, issuer: realm.displayName || realm.name })}
        <button type="submit">Save</button>
      </form>
      <p><a href="${action}">Back to your account</a></p>`,
  });
}

/** Keeps the device when it shows a right code. */
export async function saveOtp(ctx: ConsoleContext, form: AccountForm): Promise<string | Notice> {
  const { context, handle, session, request } = ctx;
  const secret = form["secret"] ?? "";
  if (!isOtpSecret(secret) || !isFormToken(handle.realm, "otp", bindingOf(ctx, secret), form[OTP_TOKEN])) {
    return { bad: "That set-up has expired; begin it again." };
  }
  const codes = await setUpOtp(context, handle, {
    user: session.user,
    secret,
    code: form["setup_code"] ?? "",
    label: form["device"] ?? "",
    ip: request.ip,
  });
  if (codes === undefined) {
    return renderSetUp(ctx, secret, "That code is not right. Look whether the clock of your device is.");
  }
  return codes.length === 0 ? { good: "The device is set up." } : renderRecoveryCodesPage({ ...pageOf(ctx), codes });
}

export async function removeOtp(ctx: ConsoleContext, form: AccountForm): Promise<Notice> {
  const { context, handle, session, request } = ctx;
  const wrong = await refuseWrongPassword(ctx, form["password"], "REMOVE_TOTP_ERROR");
  if (wrong !== undefined) {
    return { bad: wrong };
  }
  const removal = { userId: session.user.id, device: form["device"] ?? "", ip: request.ip };
  const isRemoved = await runChange(context, (db) => removeOtpDevice(db, handle.realm, removal));
  return isRemoved ? { good: "The device is removed." } : { bad: "That device was removed already." };
}

export async function renewCodes(ctx: ConsoleContext, form: AccountForm): Promise<string | Notice> {
  const wrong = await refuseWrongPassword(ctx, form["password"], "UPDATE_TOTP_ERROR");
  return wrong === undefined
    ? renderRecoveryCodesPage({ ...pageOf(ctx), codes: await renewRecoveryCodes(ctx.context, ctx.session.user) })
    : { bad: wrong };
}
