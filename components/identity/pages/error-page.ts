import { html } from "@swath/pages";
import { renderPage } from "./layout.ts";

interface ErrorPage {
  readonly title: string;
  readonly message: string;
  /** Id under which the log has the cause. */
  readonly requestId?: string | undefined;
}

/** What went wrong, for somebody in a browser. */
export function renderErrorPage({ title, message, requestId }: ErrorPage): string {
  return renderPage({
    title,
    content: html`<h1>${title}</h1>
      <p role="alert">${message}</p>
      ${requestId !== undefined && html`<p class="hint">The service's log has more under <code>${requestId}</code>.</p>`}`,
  });
}
