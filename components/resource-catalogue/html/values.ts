import { type Html, html } from "@swath/pages";

type Json = Readonly<Record<string, unknown>>;

/** Values inside each other that are shown, and entries of one list. */
const MAX_DEPTH = 6;
const MAX_ENTRIES = 200;

/** Any JSON value: objects as lists of terms, arrays as lists, addresses as links. */
export function renderValue(value: unknown, depth = 0): Html {
  if (typeof value === "string") {
    return isAddress(value) ? html`<a href="${value}">${value}</a>` : html`${value}`;
  }
  if (typeof value !== "object" || value === null) {
    return html`${value === null || value === undefined ? "–" : JSON.stringify(value)}`;
  }
  if (depth >= MAX_DEPTH) {
    return html`<code>${JSON.stringify(value).slice(0, 500)}</code>`;
  }
  if (Array.isArray(value)) {
    const entries: readonly unknown[] = value;
    if (entries.every((entry) => typeof entry === "number")) {
      return html`${entries.join(", ")}`;
    }
    const more = entries.length - MAX_ENTRIES;
    return html`<ul>
      ${entries.slice(0, MAX_ENTRIES).map((entry) => html`<li>${renderValue(entry, depth + 1)}</li>`)}${more > 0 && html`<li>and ${more} more</li>`}
    </ul>`;
  }
  const shown = Object.entries(value as Json)
    .filter(([name]) => name !== "links")
    .slice(0, MAX_ENTRIES);
  return html`<dl>
    ${shown.map(
      ([name, entry]) =>
        html`<dt>${name}</dt>
          <dd>${renderValue(entry, depth + 1)}</dd>`,
    )}
  </dl>`;
}

export const isAddress = (text: string): boolean => /^https?:\/\/[^\s]+$/.test(text);

/** An address that a link may lead to: nothing that runs. */
export const toHref = (href: unknown): string =>
  typeof href === "string" && (isAddress(href) || /^\/(?!\/)/.test(href)) ? href : "#";

/** Links, with what they are. Those that are sent by POST are not for browsers. */
export function renderLinks(links: readonly Json[]): Html {
  const shown = links.filter(({ method }) => method !== "POST");
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          <th scope="col">Relation</th>
          <th scope="col">Address</th>
          <th scope="col">Type</th>
        </tr>
      </thead>
      <tbody>
        ${shown.slice(0, MAX_ENTRIES).map(({ rel, href, type, title }) => {
          const address = typeof href === "string" ? href : "";
          const label = typeof title === "string" && title !== "" ? title : address;
          return html`<tr>
            <td>${shortRelation(typeof rel === "string" ? rel : "")}</td>
            <td>${toHref(href) === "#" ? html`<code>${address}</code>` : html`<a href="${address}">${label}</a>`}</td>
            <td>${typeof type === "string" ? type : ""}</td>
          </tr>`;
        })}
      </tbody>
    </table>
  </div>`;
}

const shortRelation = (rel: string): string => rel.split("/").at(-1) ?? rel;
