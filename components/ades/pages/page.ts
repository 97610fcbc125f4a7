import { type Html, type PageLayout, html, renderPage } from "@swath/pages";

import { inForm } from "../routes/answer.ts";
import type { Link, Place } from "../routes/context.ts";

export const STYLE_PATH = "/resources/ades.css";

interface ServicePage {
  readonly title: string;
  readonly content: Html;
  readonly place: Place;
  /** Below the user's first page. */
  readonly breadcrumbs: readonly { readonly label: string; readonly href: string }[];
  /** Address of this page, for its other forms. */
  readonly url: string;
  readonly refresh?: number;
}

/** A page of the service around its content. */
export function servicePage({ title, content, place, breadcrumbs, url, refresh }: ServicePage): string {
  const layout: PageLayout = {
    title,
    content,
    style: STYLE_PATH,
    service: "processing",
    breadcrumbs: [{ label: place.user, href: `${place.base}?f=html` }, ...breadcrumbs],
    forms: [{ label: "JSON", href: inForm(url, "json"), type: "application/json" }],
    ...(refresh !== undefined && { refresh }),
  };
  return renderPage(layout);
}

/** The address of a page that is shown to somebody who looks at pages. */
export const asPage = (href: string): string => inForm(href, "html");

/** Links with what they lead to, each once. */
export function linkList(links: readonly Link[]): Html {
  return html`<ul class="links">
    ${links.map(
      ({ href, rel, title, type }) =>
        html`<li>
          <a href="${href}" rel="${rel}" type="${type}">${title}</a> <span class="hint">${nameOf(rel)}, ${type}</span>
        </li>`,
    )}
  </ul>`;
}

const nameOf = (rel: string): string => rel.slice(rel.lastIndexOf("/") + 1);

/** Neighbours of a page of a list. */
export function pager(links: readonly Link[]): Html | undefined {
  const found = ["prev", "next"].flatMap((rel) => links.find((item) => item.rel === rel) ?? []);
  return found.length === 0
    ? undefined
    : html`<nav class="pager" aria-label="Pages">
        ${found.map(({ href, rel, title }) => html`<a href="${asPage(href)}" rel="${rel}">${title}</a>`)}
      </nav>`;
}

const BADGES: ReadonlyMap<string, string> = new Map(
  Object.entries<string>({
    successful: "good",
    failed: "bad",
    dismissed: "bad",
    running: "busy",
    accepted: "busy",
  }),
);

export const statusBadge = (status: string): Html =>
  html`<span class="badge ${BADGES.get(status) ?? ""}">${status}</span>`;

/** A time as people read it; its title is exact. */
export function time(text: string | undefined | null): Html {
  return text === undefined || text === null
    ? html`<span class="hint">not yet</span>`
    : html`<time datetime="${text}" title="${text}">${text.replace("T", " ").replace(/\.\d+Z$/, " UTC")}</time>`;
}

/** Seconds in words. */
export function duration(from: string | undefined, to: string | undefined): string {
  if (from === undefined || to === undefined) {
    return "";
  }
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000;
  if (seconds < 60) {
    return `${seconds.toFixed(1)} s`;
  }
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes} min ${Math.round(seconds % 60)} s`
    : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Any value as people read it: names and values, lists, addresses that can be followed. */
export function value(provided: unknown): Html {
  if (
    provided === null ||
    provided === undefined ||
    provided === "" ||
    (Array.isArray(provided) && provided.length === 0)
  ) {
    return html`<span class="hint">none</span>`;
  }
  if (typeof provided === "string") {
    return /^https?:\/\/\S+$/.test(provided) ? html`<a href="${provided}">${provided}</a>` : html`${provided}`;
  }
  if (typeof provided !== "object") {
    return html`<code>${JSON.stringify(provided)}</code>`;
  }
  if (Array.isArray(provided)) {
    return provided.every((item) => typeof item !== "object")
      ? html`${provided.map((item) => html`<code>${String(item)}</code> `)}`
      : html`<ol>
          ${provided.map((item) => html`<li>${value(item)}</li>`)}
        </ol>`;
  }
  return fields(provided as Readonly<Record<string, unknown>>);
}

/** Names and values. */
export function fields(provided: Readonly<Record<string, unknown>>): Html {
  return html`<dl>
    ${Object.entries(provided).map(
      ([name, item]) =>
        html`<dt>${name}</dt>
          <dd>${value(item)}</dd>`,
    )}
  </dl>`;
}
