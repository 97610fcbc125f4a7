import { type Html, html } from "@swath/pages";
import { renderSVG } from "uqr";

import { otpAddress } from "../login/one-time-codes.ts";
import { renderPasskeyForm } from "./passkey-form.ts";
import { FORM_TOKEN } from "./form-token.ts";
import { renderPage } from "./layout.ts";

interface FormPage {
  readonly action: string;
  readonly token: string;
  readonly error?: string | undefined;
}

/** Asks for a one-time code, or a recovery code. */
export function renderCodePage({
  action,
  token,
  username,
  hasCodes,
  passkeyOptions,
  error,
}: FormPage & {
  readonly username: string;
  /** Whether there is a device that shows codes, besides recovery codes. */
  readonly hasCodes: boolean;
  /** What the user's passkeys are asked, where there are some that can be used. */
  readonly passkeyOptions?: string | undefined;
}): string {
  return renderPage({
    title: "One-time code",
    content: html`<h1>One-time code</h1>
      <p>
        ${
          hasCodes
            ? html`Type the code that your authenticator shows for <strong>${username}</strong>.`
            : html`Use your passkey for <strong>${username}</strong>, or type one of your recovery codes.`
        }
      </p>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <label for="code">Code</label>
        <input
          id="code"
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          spellcheck="false"
          maxlength="32"
          required
          autofocus
          aria-describedby="code-hint"
        />
        <p class="hint" id="code-hint">Six digits. Without your device, type one of your recovery codes.</p>
        <button type="submit">Go on</button>
      </form>
      ${
        passkeyOptions !== undefined &&
        renderPasskeyForm({ action, token, kind: "get", options: passkeyOptions, button: "Use a passkey" })
      }`,
  });
}

interface SetUp {
  readonly secret: string;
  readonly username: string;
  /** Name of the platform in the authenticator. */
  readonly issuer: string;
}

/** The fields that set up a device: a picture to scan, the secret to type, the first code to type in. */
export function renderOtpFields({ secret, username, issuer }: SetUp): Html {
  const picture = Buffer.from(renderSVG(otpAddress(secret, issuer, username), { border: 4 })).toString("base64");
  return html`<p>Scan this with an authenticator, or type the key into it:</p>
    <p><img src="data:image/svg+xml;base64,${picture}" alt="QR code with the key below" width="200" height="200" /></p>
    <p><code>${secret.replace(/(.{4})(?=.)/g, "$1 ")}</code></p>
    <label for="device">Name of the device</label>
    <input id="device" name="device" value="Authenticator" maxlength="100" required />
    <label for="setup_code">The code that it shows now</label>
    <input
      id="setup_code"
      name="setup_code"
      inputmode="numeric"
      autocomplete="one-time-code"
      maxlength="10"
      required
      aria-describedby="setup-hint"
    />
    <p class="hint" id="setup-hint">Six digits; they change every 30 seconds.</p>`;
}

/** Asks to set up one-time codes before a login can go on. */
export function renderSetUpPage({
  action,
  token,
  error,
  passkeyOptions,
  ...setUp
}: FormPage & SetUp & { readonly passkeyOptions?: string | undefined }): string {
  return renderPage({
    title: "Set up one-time codes",
    content: html`<h1>Set up one-time codes</h1>
      <p>Your account needs a second factor beside the password.</p>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        ${renderOtpFields(setUp)}
        <button type="submit">Save and go on</button>
      </form>
      ${
        passkeyOptions !== undefined &&
        html`<h2>Or a passkey</h2>
          <p>This device, or a security key, then proves who you are.</p>
          ${renderPasskeyForm({ action, token, kind: "create", options: passkeyOptions, button: "Set up a passkey" })}`
      }`,
  });
}

/** Recovery codes, shown once. */
export function renderRecoveryCodesPage({
  action,
  token,
  codes,
}: Omit<FormPage, "error"> & { readonly codes: readonly string[] }): string {
  return renderPage({
    title: "Recovery codes",
    content: html`<h1>Recovery codes</h1>
      <p>Keep these where you find them without your device. Each logs you in once. They are not shown again.</p>
      <ul>
        ${codes.map((code) => html`<li><code>${code}</code></li>`)}
      </ul>
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <input type="hidden" name="action" value="kept" />
        <button type="submit">I have kept them</button>
      </form>`,
  });
}
