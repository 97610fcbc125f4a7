import type { JobStatus } from "./step-states.ts";

export const JOB_STATUSES = [
  "accepted",
  "running",
  "successful",
  "failed",
  "dismissed",
] as const satisfies readonly JobStatus[];

/** Which jobs are listed (OGC 18-062r2 §11). */
export interface JobFilter {
  readonly processes: readonly string[];
  readonly statuses: readonly JobStatus[];
  /** Days, `2026-11-21`; both ends belong to it. */
  readonly from?: string;
  readonly to?: string;
  /** Seconds. */
  readonly minDuration?: number;
  readonly maxDuration?: number;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** The filter that an address of the page holds; what is not understood is left out. */
export function readFilter(query: URLSearchParams): JobFilter {
  const dayOf = (name: string) => (DAY.test(query.get(name) ?? "") ? (query.get(name) ?? undefined) : undefined);
  const secondsOf = (name: string) => (/^\d+$/.test(query.get(name) ?? "") ? Number(query.get(name)) : undefined);
  const [from, to] = [dayOf("from"), dayOf("to")];
  const [minDuration, maxDuration] = [secondsOf("minDuration"), secondsOf("maxDuration")];
  return {
    processes: query.getAll("process").filter((id) => id !== ""),
    statuses: JOB_STATUSES.filter((status) => query.getAll("status").includes(status)),
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(minDuration !== undefined && { minDuration }),
    ...(maxDuration !== undefined && { maxDuration }),
  };
}

/** The address of the page with a filter. */
export function writeFilter({ processes, statuses, from, to, minDuration, maxDuration }: JobFilter): URLSearchParams {
  const query = new URLSearchParams();
  processes.forEach((id) => query.append("process", id));
  statuses.forEach((status) => query.append("status", status));
  for (const [name, value] of Object.entries({ from, to, minDuration, maxDuration })) {
    if (value !== undefined && value !== "") {
      query.set(name, String(value));
    }
  }
  return query;
}

export const isEmptyFilter = (filter: JobFilter): boolean => writeFilter(filter).size === 0;

/** The query of the service's job list. Days are those of the reader's clock. */
export function toJobQuery(filter: JobFilter, page: { readonly limit: number; readonly skip: number }): string {
  const query = new URLSearchParams({ limit: String(page.limit), skip: String(page.skip) });
  const { processes, statuses, from, to, minDuration, maxDuration } = filter;
  if (processes.length > 0) {
    query.set("processID", processes.join(","));
  }
  if (statuses.length > 0) {
    query.set("status", statuses.join(","));
  }
  if (from !== undefined || to !== undefined) {
    const start = from === undefined ? ".." : new Date(`${from}T00:00:00`).toISOString();
    const end = to === undefined ? ".." : new Date(`${to}T23:59:59.999`).toISOString();
    query.set("datetime", `${start}/${end}`);
  }
  if (minDuration !== undefined) {
    query.set("minDuration", String(minDuration));
  }
  if (maxDuration !== undefined) {
    query.set("maxDuration", String(maxDuration));
  }
  return query.toString();
}

/** Rows that one request fetches. */
export const PAGE_ROWS = 100;

/** First rows of the pages that hold the rows from `first` to `last`, of `total`. */
export function toPageStarts(first: number, last: number, total: number): readonly number[] {
  const end = Math.min(last, Math.max(0, total - 1));
  const starts: number[] = [];
  for (let start = Math.floor(Math.max(0, first) / PAGE_ROWS) * PAGE_ROWS; start <= end; start += PAGE_ROWS) {
    starts.push(start);
  }
  return starts.length === 0 ? [0] : starts;
}

/** How long a list of jobs is, as far as it is known. */
export interface ListLength {
  readonly rows: number;
  /** Otherwise there are more, and `rows` grows as the list is read. */
  readonly isExact: boolean;
}

/**
 * What a page tells of the length of its list: `total` where the service counted, else as far as the page goes, and one page
 * more while it is full.
 */
export function measureList(
  page: { readonly start: number; readonly rows: number; readonly total: number | undefined },
  before: ListLength | undefined,
): ListLength {
  const { start, rows, total } = page;
  if (total !== undefined) {
    return { rows: total, isExact: true };
  }
  if (rows < PAGE_ROWS) {
    return { rows: start + rows, isExact: true };
  }
  const read = start + 2 * PAGE_ROWS;
  return before !== undefined && before.rows >= read ? before : { rows: read, isExact: false };
}
