import { html } from "@swath/pages";

import type { PendingDevice } from "../store/device-grants.ts";
import { FORM_TOKEN } from "./form-token.ts";
import { renderPage } from "./layout.ts";

interface DevicePage {
  readonly action: string;
  readonly token: string;
  readonly error?: string | undefined;
}

/** Asks for the code that a program shows. */
export function renderUserCodePage({ action, token, error }: DevicePage): string {
  return renderPage({
    title: "Log a program in",
    content: html`<h1>Log a program in</h1>
      ${error !== undefined && html`<p role="alert">${error}</p>`}
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <label for="user_code">The code that the program shows</label>
        <input
          id="user_code"
          name="user_code"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck="false"
          maxlength="20"
          placeholder="XXXX-XXXX"
          required
          autofocus
        />
        <button type="submit">Go on</button>
      </form>`,
  });
}

/** Shows what asks, before anything is allowed (RFC 8628 §5.4: the code may come from somebody else). */
export function renderDecisionPage({
  action,
  token,
  userCode,
  username,
  device,
}: DevicePage & { readonly userCode: string; readonly username: string; readonly device: PendingDevice }): string {
  return renderPage({
    title: "Log a program in",
    content: html`<h1>Log ${device.clientName} in?</h1>
      <p>
        ${device.clientName} will act for you, <strong>${username}</strong>. Allow it only if you began this login
        yourself and the program shows the code <code>${userCode.slice(0, 4)}-${userCode.slice(4)}</code>.
      </p>
      <form method="post" action="${action}">
        <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
        <input type="hidden" name="user_code" value="${userCode}" />
        <button type="submit" name="decision" value="allow">Allow</button>
        <button type="submit" name="decision" value="refuse" class="quiet">Refuse</button>
      </form>`,
  });
}

export function renderDecidedPage(isAllowed: boolean): string {
  return renderPage({
    title: isAllowed ? "The program is logged in" : "Refused",
    content: isAllowed
      ? html`<h1>The program is logged in</h1>
          <p>You may close this window. Your account page shows the session and ends it.</p>`
      : html`<h1>Refused</h1>
          <p>The program is not logged in. You may close this window.</p>`,
  });
}
