import { FORM_TOKEN } from "./form-token.ts";
import { html } from "@swath/pages";
import { renderPage } from "./layout.ts";

interface LogoutPage {
  readonly action: string;
  readonly token: string;
  readonly username: string;
  readonly fields: Readonly<Record<string, string | undefined>>;
}

/** Asks before logging out, where the request does not prove who wants it. */
export function renderLogoutPage({ action, token, username, fields }: LogoutPage): string {
  return renderPage({
    title: "Log out",
    content: html`<h1>Log out?</h1>
      <p>You are logged in as <strong>${username}</strong>.</p>
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        ${Object.entries(fields).flatMap(([name, value]) =>
          value === undefined ? [] : [html`<input type="hidden" name="${name}" value="${value}" />`],
        )}
        <button type="submit">Log out</button>
      </form>`,
  });
}

export function renderLoggedOutPage(): string {
  return renderPage({
    title: "Logged out",
    content: html`<h1>You are logged out</h1>
      <p>You may close this window.</p>`,
  });
}
