import { type Html, html } from "./html.ts";

/** What a page consists of. */
export interface PageLayout {
  readonly title: string;
  readonly content: Html;
  /** Address of the style sheet. */
  readonly style: string;
  /** A wider column, for tables. */
  readonly wide?: boolean;
  /** A reading page instead of a card: the way from the first page to this one, which is the last. */
  readonly breadcrumbs?: readonly { readonly label: string; readonly href: string }[];
  /** Beside the brand, on reading pages: what service this is. */
  readonly service?: string;
  /** The same content in other forms, shown at the end of reading pages. */
  readonly forms?: readonly { readonly label: string; readonly href: string; readonly type: string }[];
  /** Seconds after which the page is loaded again: something on it is under way. */
  readonly refresh?: number;
}

const BRAND = html`<svg viewBox="0 0 32 32" aria-hidden="true">
  <circle cx="16" cy="16" r="13" />
  <path d="M6 24 20 3.8M12 28.4 26 8" />
</svg>`;

const MARK = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none" stroke="#16888f" stroke-width="2.5" stroke-linecap="round"><circle cx="16" cy="16" r="13"/><path d="M6 24 20 3.8M12 28.4 26 8"/></svg>`;

/** The mark in a browser's tab, inside the page: without one, browsers ask for /favicon.ico, which no service has. */
export const PAGE_ICON: Html = html`<link
  rel="icon"
  type="image/svg+xml"
  href="data:image/svg+xml,${encodeURIComponent(MARK)}"
/>`;

/** A whole page: works without script, in light and dark, on a phone. */
export function renderPage(layout: PageLayout): string {
  const { title, style, refresh, forms = [] } = layout;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        ${refresh !== undefined && html`<meta http-equiv="refresh" content="${refresh}" />`}
        <title>${title} · Swath</title>
        ${PAGE_ICON}
        <link rel="stylesheet" href="${style}" />
        ${forms.map(({ href, type }) => html`<link rel="alternate" type="${type}" href="${href}" />`)}
      </head>
      ${layout.breadcrumbs === undefined ? card(layout) : readingPage(layout, layout.breadcrumbs)}
    </html>`.text;
}

function card({ content, wide = false }: PageLayout): Html {
  return html`<body>
    <main class="${wide ? "card wide" : "card"}">
      <p class="brand" aria-label="Swath">${BRAND}<span>Swath</span></p>
      ${content}
    </main>
  </body>`;
}

function readingPage(
  { content, service, forms = [] }: PageLayout,
  breadcrumbs: NonNullable<PageLayout["breadcrumbs"]>,
): Html {
  const last = breadcrumbs.length - 1;
  return html`<body class="reading">
    <a class="skip" href="#content">Skip to content</a>
    <header>
      <p class="brand">${BRAND}<span>Swath ${service ?? ""}</span></p>
      <nav aria-label="Where this is">
        <ol>
          ${breadcrumbs.map(({ label, href }, index) =>
            index === last
              ? html`<li><a href="${href}" aria-current="page">${label}</a></li>`
              : html`<li><a href="${href}">${label}</a></li>`,
          )}
        </ol>
      </nav>
    </header>
    <main id="content" tabindex="-1">${content}</main>
    <footer>
      ${
        forms.length > 0 &&
        html`<p>
          This page as ${forms.map(({ label, href, type }) => html`<a href="${href}" type="${type}">${label}</a> `)}
        </p>`
      }
    </footer>
  </body>`;
}
