import { type Html, html } from "./html.ts";

export const STYLE_PATH = "/resources/identity.css";

interface Layout {
  readonly title: string;
  readonly content: Html;
  /** A wider column, for tables. */
  readonly wide?: boolean;
}

/** A whole page: works without script, in light and dark, on a phone. */
export function renderPage({ title, content, wide = false }: Layout): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <title>${title} · Swath</title>
        <link rel="stylesheet" href="${STYLE_PATH}" />
      </head>
      <body>
        <main class="${wide ? "card wide" : "card"}">
          <p class="brand" aria-label="Swath">
            <svg viewBox="0 0 32 32" aria-hidden="true">
              <circle cx="16" cy="16" r="13" />
              <path d="M6 24 20 3.8M12 28.4 26 8" />
            </svg>
            <span>Swath</span>
          </p>
          ${content}
        </main>
      </body>
    </html>`.text.replace(/\n\s+/g, "\n");
}
