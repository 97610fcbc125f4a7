import { html } from "@swath/pages";
import { renderPage } from "../pages/layout.ts";

/** For somebody who is logged in, but administers nothing. */
export function renderForbiddenPage(): string {
  return renderPage({
    title: "For administrators",
    content: html`<h1>For administrators</h1>
      <p role="alert">Your account lacks the role <strong>admin</strong> of the realm <strong>master</strong>.</p>
      <p>
        <a href="/realms/master/protocol/openid-connect/logout">Log out</a> and come back as an administrator, or go to
        <a href="/realms/master/account">your account</a>.
      </p>`,
  });
}
