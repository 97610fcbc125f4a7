import { type Html, html } from "@swath/pages";

export const PAGE_SIZE = 50;

/** Number of the page that the address asks for, from 1. */
export function readPageNumber(query: Readonly<Record<string, string>>): number {
  const text = query["page"] ?? "1";
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}

/** Which rows to fetch: one more than is shown tells whether there is a next page. */
export function rowsOf(page: number): { readonly first: number; readonly max: number } {
  return { first: (page - 1) * PAGE_SIZE, max: PAGE_SIZE + 1 };
}

interface Pager {
  readonly page: number;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly more: boolean;
  readonly total?: number;
}

/** Links to the pages before and after. */
export function renderPager({ page, path, query, more, total }: Pager): Html | false {
  const { done: _done, ...kept } = query;
  const to = (number: number) => `${path}?${new URLSearchParams({ ...kept, page: String(number) }).toString()}`;
  if (page === 1 && !more) {
    return false;
  }
  const last = total === undefined ? "" : ` of ${Math.max(1, Math.ceil(total / PAGE_SIZE))}`;
  return html`<p class="pager">
    ${page > 1 && html`<a rel="prev" href="${to(page - 1)}">Previous</a>`} <span>Page ${page}${last}</span>
    ${more && html`<a rel="next" href="${to(page + 1)}">Next</a>`}
  </p>`;
}

/** A table; `headers` that are empty belong to a column of buttons. */
export function renderTable(
  caption: string,
  headers: readonly string[],
  rows: readonly (readonly (Html | string)[])[],
): Html {
  if (rows.length === 0) {
    return html`<p class="hint">None.</p>`;
  }
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
    <table>
      <thead>
        <tr>
          ${headers.map((header) => html`<th scope="col">${header === "" ? html`<span class="unseen">Action</span>` : header}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((cell) => html`<td>${cell}</td>`)}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}

/** A search field that works by the address. */
export function renderSearch(path: string, label: string, value: string): Html {
  return html`<form class="search" method="get" action="${path}" role="search">
    <span class="pair">
      <label for="search">${label}</label>
      <input id="search" name="search" type="search" value="${value}" />
    </span>
    <button class="quiet" type="submit">Search</button>
  </form>`;
}

/** `2026-11-21 05:00 UTC` */
export function toTime(date: Date): Html {
  const text = date.toISOString();
  return html`<time datetime="${text}">${text.slice(0, 16).replace("T", " ")} UTC</time>`;
}
