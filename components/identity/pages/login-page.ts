import { html } from "@swath/pages";
import { renderPasskeyForm } from "./passkey-form.ts";
import { FORM_TOKEN } from "./form-token.ts";
import { renderPage } from "./layout.ts";

interface LoginPage {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly username: string;
  /** What an authenticator is asked; left out where passkeys cannot be used. */
  readonly passkeyOptions?: string | undefined;
  readonly error?: string | undefined;
}

/** User name and password, or a passkey. */
export function renderLoginPage({ action, token, clientName, username, passkeyOptions, error }: LoginPage): string {
  return renderPage({
    title: "Log in",
    content: html`<h1>Log in to ${clientName}</h1>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <label for="username">User name or e-mail</label>
        <input
          id="username"
          name="username"
          value="${username}"
          autocomplete="username"
          autocapitalize="none"
          spellcheck="false"
          required
          ${username === "" ? html`autofocus` : ""}
        />
        <label for="password">Password</label>
        <input
          id="password"
          name="password"
          type="password"
          autocomplete="current-password"
          required
          ${username === "" ? "" : html`autofocus`}
        />
        <button type="submit">Log in</button>
      </form>
      ${
        passkeyOptions !== undefined &&
        renderPasskeyForm({ action, token, kind: "get", options: passkeyOptions, button: "Log in with a passkey" })
      }`,
  });
}

interface PasswordPage {
  readonly action: string;
  readonly token: string;
  readonly username: string;
  readonly minimumLength: number;
  readonly error?: string | undefined;
}

/** A new password, asked for after a login with one that somebody else had set. */
export function renderNewPasswordPage({ action, token, username, minimumLength, error }: PasswordPage): string {
  return renderPage({
    title: "Choose a password",
    content: html`<h1>Choose a password</h1>
      <p>The password of <strong>${username}</strong> was set by somebody else. Choose one of your own to go on.</p>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <input type="hidden" name="username" value="${username}" autocomplete="username" />
        <label for="new">New password</label>
        <input
          id="new"
          name="new_password"
          type="password"
          autocomplete="new-password"
          minlength="${minimumLength}"
          required
          autofocus
          aria-describedby="rule"
        />
        <p class="hint" id="rule">At least ${minimumLength} characters.</p>
        <label for="again">The same again</label>
        <input id="again" name="new_password_again" type="password" autocomplete="new-password" required />
        <button type="submit">Save and go on</button>
      </form>`,
  });
}

interface ConsentPage {
  readonly action: string;
  readonly token: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
}

const MEANINGS: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    openid: "Know who you are",
    profile: "See your name and user name",
    email: "See your e-mail address",
    offline_access: "Act for you while you are away",
    groups: "See the groups you are in",
    roles: "See your roles",
  }),
);

/** What a client asks to be allowed. */
export function renderConsentPage({ action, token, clientName, scopes }: ConsentPage): string {
  return renderPage({
    title: "Allow access",
    content: html`<h1>${clientName} asks for access</h1>
      <p>If you agree, it may:</p>
      <ul>
        ${scopes.map((scope) => html`<li>${MEANINGS.get(scope) ?? scope}</li>`)}
      </ul>
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <button type="submit" name="consent" value="yes">Allow</button>
        <button type="submit" name="consent" value="no" class="quiet">Refuse</button>
      </form>`,
  });
}
