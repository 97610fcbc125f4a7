import { html } from "@swath/pages";

import type { Link, ApiBase } from "../routes/context.ts";
import { asPage, linkList, servicePage, value } from "./page.ts";

interface Landing {
  readonly title: string;
  readonly description: string;
  readonly links: readonly Link[];
}

/** The first page of a user's space. */
export function landingPage({ title, description, links }: Landing, apiBase: ApiBase, url: string): string {
  const tiles = [
    ["processes", "Processes", "What can be executed: inputs, outputs, and how to deploy more."],
    ["jobs", "Jobs", "What is and was executed, with progress, logs and results."],
    ["api", "Interface", "Every request, described and ready to be tried."],
    ["conformance", "Conformance", "Which standards this service follows."],
  ] as const;
  return servicePage({
    title,
    place: apiBase,
    breadcrumbs: [],
    url,
    content: html`<h1>${title}</h1>
      <p>${description}</p>
      <ul class="tiles">
        ${tiles.map(
          ([path, name, text]) =>
            html`<li>
              <h2><a href="${asPage(`${apiBase.url}/${path}`)}">${name}</a></h2>
              <p class="hint">${text}</p>
            </li>`,
        )}
      </ul>
      <section class="panel">
        <h2>Links</h2>
        ${linkList(links)}
      </section>`,
  });
}

/** Which requirements classes are conformed to. */
export function conformancePage(
  { conformsTo }: { readonly conformsTo: readonly string[] },
  apiBase: ApiBase,
  url: string,
): string {
  return servicePage({
    title: "Conformance",
    place: apiBase,
    breadcrumbs: [{ label: "conformance", href: url }],
    url,
    content: html`<h1>Conformance</h1>
      <section class="panel">
        <ul class="links">
          ${conformsTo.map((uri) => html`<li>${value(uri)}</li>`)}
        </ul>
      </section>`,
  });
}
