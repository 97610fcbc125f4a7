import { type Html, html } from "@swath/pages";

import type { Link, ApiBase } from "../routes/context.ts";
import type { StatusInfo } from "../routes/job-status.ts";
import type { toStep } from "../routes/job-records.ts";
import { isOpen } from "../store/job-states.ts";
import { asPage, duration, linkList, pager, servicePage, statusBadge, time } from "./page.ts";

interface JobList {
  readonly jobs: readonly StatusInfo[];
  readonly links: readonly Link[];
  readonly numberTotal?: number;
}

export function jobListPage({ jobs, links, numberTotal }: JobList, apiBase: ApiBase, url: string): string {
  return servicePage({
    title: "Jobs",
    place: apiBase,
    breadcrumbs: [{ label: "jobs", href: url }],
    url,
    content: html`<h1>Jobs</h1>
      <p class="hint">
        ${numberTotal === undefined ? "More than 1,000" : String(numberTotal)} in all, the latest first.
      </p>
      <section class="panel">
        <div class="scroll" tabindex="0" role="region" aria-label="Jobs">
          <table>
            <thead>
              <tr>
                <th>Job</th>
                <th>Process</th>
                <th>Status</th>
                <th>Progress</th>
                <th>Created</th>
                <th>Took</th>
              </tr>
            </thead>
            <tbody>
              ${jobs.map(
                ({ jobID, processID, status, progress, created, started, finished, message }) =>
                  html`<tr>
                    <td>
                      <a href="${asPage(`${apiBase.base}/jobs/${jobID}`)}"><code>${jobID.slice(0, 8)}</code></a>
                    </td>
                    <td>${processID}</td>
                    <td>
                      ${statusBadge(status)} <span class="hint">${message.split("\n", 1)[0]?.slice(0, 120)}</span>
                    </td>
                    <td>${progress} %</td>
                    <td>${time(created)}</td>
                    <td>${duration(started, finished)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>
        </div>
        ${pager(links)}
      </section>
      <section class="panel">
        <h2>Links</h2>
        ${linkList(links)}
      </section>`,
  });
}

/** A job; the page is loaded again while the job is under way. */
export function jobPage(
  job: StatusInfo,
  steps: readonly ReturnType<typeof toStep>[],
  apiBase: ApiBase,
  url: string,
): string {
  const { jobID, processID, type, status, message, progress, created, started, finished, updated, usage, links } = job;
  const isUnderWay = isOpen(status);
  const [first = "", ...more] = message.split("\n");
  return servicePage({
    title: `${processID}: ${status}`,
    place: apiBase,
    breadcrumbs: [
      { label: "jobs", href: asPage(`${apiBase.base}/jobs`) },
      { label: jobID.slice(0, 8), href: url },
    ],
    url,
    ...(isUnderWay && { refresh: 3 }),
    content: html`<h1>${processID} ${statusBadge(status)}</h1>
      <p>${first}</p>
      ${more.length > 0 && html`<pre>${more.join("\n")}</pre>`}
      ${isUnderWay && html`<p><progress max="100" value="${progress}" aria-label="Progress">${progress} %</progress></p>`}
      <section class="panel">
        <dl>
          <dt>jobID</dt>
          <dd><code>${jobID}</code></dd>
          <dt>processID</dt>
          <dd><a href="${asPage(`${apiBase.base}/processes/${encodeURIComponent(processID)}`)}">${processID}</a></dd>
          <dt>type</dt>
          <dd>${type}</dd>
          <dt>status</dt>
          <dd>${status}</dd>
          <dt>progress</dt>
          <dd>${progress} %</dd>
          <dt>created</dt>
          <dd>${time(created)}</dd>
          <dt>started</dt>
          <dd>${time(started)}</dd>
          <dt>finished</dt>
          <dd>${time(finished)} ${duration(started, finished)}</dd>
          <dt>updated</dt>
          <dd>${time(updated)}</dd>
          ${usageRows(usage)}
        </dl>
      </section>
      ${
        steps.length > 0 &&
        html`<section class="panel">
          <h2>Steps</h2>
          <div class="scroll" tabindex="0" role="region" aria-label="Steps">
            <table>
              <thead>
                <tr>
                  <th>Step</th>
                  <th>Status</th>
                  <th>Took</th>
                  <th>Processor time</th>
                  <th>Most memory</th>
                  <th>Files in</th>
                  <th>Files out</th>
                </tr>
              </thead>
              <tbody>
                ${steps.map(
                  (step) =>
                    html`<tr>
                      <td>${step.name}</td>
                      <td>
                        ${statusBadge(step.status)} ${step.exitCode !== undefined && html`exit code ${step.exitCode}`}
                        <span class="hint">${step.message}</span>
                      </td>
                      <td>${duration(step.started ?? undefined, step.finished ?? undefined)}</td>
                      <td>${seconds(step.cpuSeconds)}</td>
                      <td>${size(step.peakMemoryBytes)}</td>
                      <td>${size(step.bytesIn)}</td>
                      <td>${size(step.bytesOut)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>
        </section>`
      }
      <section class="panel">
        <h2>Links</h2>
        ${linkList(links)}
      </section>`,
  });
}

/** What a job used, as far as it was seen. */
function usageRows(usage: StatusInfo["usage"]): readonly Html[] {
  const rows: readonly [name: string, text: string][] = [
    ["processor time", seconds(usage?.cpuSeconds)],
    ["most memory of a step", size(usage?.peakMemoryBytes)],
    ["read from elsewhere", size(usage?.bytesIn)],
    ["stored", size(usage?.bytesOut)],
  ];
  return rows
    .filter(([, text]) => text !== "")
    .map(
      ([name, text]) =>
        html`<dt>${name}</dt>
          <dd>${text}</dd>`,
    );
}

const seconds = (amount: number | undefined): string => (amount === undefined ? "" : `${amount.toFixed(2)} s`);

function size(bytes: number | undefined): string {
  if (bytes === undefined) {
    return "";
  }
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  const at = bytes < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${at === 0 ? bytes : (bytes / 1024 ** at).toFixed(1)} ${units[at]}`;
}
