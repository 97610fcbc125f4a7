import { type Html, html } from "@swath/pages";

import { SECURITY_HEADERS } from "../oidc/provider.ts";
import { FORM_TOKEN } from "./form-token.ts";

export const PASSKEY_SCRIPT_PATH = "/resources/passkeys.js";

/** Headers of pages with passkeys: the one script of this service may run. */
export const PASSKEY_PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  "content-security-policy": `${SECURITY_HEADERS["content-security-policy"] ?? ""}; script-src 'self'`,
};

/**
 * Asks the authenticator when a form with `data-passkey` is sent, and sends its answer. Such forms are hidden where the browser has no
 * passkeys, or no scripts.
 */
export const PASSKEY_SCRIPT = `"use strict";
const forms = document.querySelectorAll("form[data-passkey]");
const canUse = typeof PublicKeyCredential === "function" && "parseRequestOptionsFromJSON" in PublicKeyCredential;
for (const form of canUse ? forms : []) {
  form.hidden = false;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const problem = form.querySelector("[data-problem]");
    problem.textContent = "";
    const options = JSON.parse(form.dataset.options);
    const asked =
      form.dataset.passkey === "create"
        ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
        : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
    asked.then(
      (credential) => {
        form.elements.passkey.value = JSON.stringify(credential.toJSON());
        form.submit();
      },
      (error) => {
        problem.textContent =
          error.name === "InvalidStateError"
            ? "This device has a passkey of yours already."
            : "The passkey was not used: it was cancelled, took too long, or this device has none for here.";
      },
    );
  });
}
`;

interface PasskeyForm {
  readonly action: string;
  readonly token: string;
  /** What the authenticator is to do. */
  readonly kind: "create" | "get";
  /** As JSON. */
  readonly options: string;
  readonly button: string;
  readonly content?: Html | undefined;
}

/** A form that the authenticator of the browser answers. */
export function renderPasskeyForm({ action, token, kind, options, button, content }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${options}" hidden>
      <input type="hidden" name="${FORM_TOKEN}" value="${token}" />
      <input type="hidden" name="passkey" value="" />
      ${content}
      <button class="quiet" type="submit">${button}</button>
      <p role="alert" data-problem></p>
    </form>
    <script src="${PASSKEY_SCRIPT_PATH}" defer></script>`;
}
