import { html } from "@swath/pages";

import type { ApiBase } from "../routes/context.ts";
import type { Job } from "../store/jobs.ts";
import { asPage, servicePage, value } from "./page.ts";

/** What came of a job. */
export function resultsPage(
  results: Readonly<Record<string, unknown>>,
  job: Job,
  apiBase: ApiBase,
  url: string,
): string {
  const address = `${apiBase.base}/jobs/${job.id}`;
  return servicePage({
    title: `Results of ${job.process_id}`,
    place: apiBase,
    breadcrumbs: [
      { label: "jobs", href: asPage(`${apiBase.base}/jobs`) },
      { label: job.id.slice(0, 8), href: asPage(address) },
      { label: "results", href: url },
    ],
    url,
    content: html`<h1>Results of ${job.process_id}</h1>
      ${Object.entries(results).map(
        ([name, result]) =>
          html`<section class="panel">
            <h2>${name}</h2>
            ${value(result)}
          </section>`,
      )}
      ${Object.keys(results).length === 0 && html`<p>The job has no results.</p>`}
      <p><a href="${address}/files">Files of the results</a></p>`,
  });
}
