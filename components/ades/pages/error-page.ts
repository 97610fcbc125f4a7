import { html, renderPage } from "@swath/pages";

import { value } from "./page.ts";
import { STYLE_PATH } from "./page.ts";

/** What went wrong, for somebody in a browser. */
export function errorPage({
  title,
  detail,
  errors,
  requestId,
}: {
  readonly title: string;
  readonly detail?: string;
  readonly errors?: unknown;
  readonly requestId?: unknown;
}): string {
  const words = title.replaceAll(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return renderPage({
    title: words,
    style: STYLE_PATH,
    wide: true,
    content: html`<h1>${words.slice(0, 1).toUpperCase()}${words.slice(1)}</h1>
      <p role="alert">${detail}</p>
      ${errors !== undefined && value(errors)}
      ${typeof requestId === "string" && html`<p class="hint">The service's log has more under <code>${requestId}</code>.</p>`}`,
  });
}
