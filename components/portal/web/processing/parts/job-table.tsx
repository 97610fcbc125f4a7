import { Anchor, Progress, Text } from "@mantine/core";
import { ErrorNote, Loading, RelativeTime, formatDuration, formatPlural } from "@swath/ui";
import { useQueries } from "@tanstack/react-query";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { Link } from "react-router";

import { jobPageQuery, useProcessing } from "../api/processing.ts";
import type { Job } from "../api/processing-client.ts";
import {
  type JobFilter,
  type ListLength,
  PAGE_ROWS,
  measureList,
  toPageStarts,
  writeFilter,
} from "../model/job-filter.ts";
import { summarizeFailure } from "../model/failure-text.ts";
import { isActive } from "../model/step-states.ts";
import classes from "./job-table.module.css";
import { StatusBadge } from "./status-badge.tsx";

const ROW = 52;

interface JobTableProps {
  readonly filter: JobFilter;
  readonly label: string;
  /** Shown when there is none. */
  readonly empty?: ReactNode;
}

/** Jobs, the latest first, kept current. Of thousands only those in sight are fetched and in the page. */
export function JobTable(props: JobTableProps) {
  // Another filter is another list: nothing that was known of the length holds.
  return <FilteredJobs key={writeFilter(props.filter).toString()} {...props} />;
}

function FilteredJobs({ filter, label, empty = <Text c="dimmed">No jobs.</Text> }: JobTableProps) {
  const client = useProcessing();
  const body = useRef<HTMLDivElement>(null);
  const [length, setLength] = useState<ListLength>();
  const total = length?.rows;
  const [margin, setMargin] = useState(0);
  const virtual = useWindowVirtualizer({
    count: total ?? 0,
    estimateSize: () => ROW,
    overscan: 10,
    scrollMargin: margin,
  });
  const rows = virtual.getVirtualItems();
  const starts = toPageStarts(rows[0]?.index ?? 0, rows.at(-1)?.index ?? 0, total ?? 0);
  const pages = useQueries({ queries: starts.map((start) => jobPageQuery(client, filter, start)) });
  // The farthest page knows most of the length.
  const last = pages.findLastIndex(({ data, isPlaceholderData }) => data !== undefined && !isPlaceholderData);
  const { jobs, numberTotal } = pages[last]?.data ?? {};
  const known = jobs && measureList({ start: starts[last] ?? 0, rows: jobs.length, total: numberTotal }, length);
  const error = pages.find((page) => page.error)?.error;
  // While a page far down is on its way, the list stays as long as it was.
  if (known !== undefined && (known.rows !== length?.rows || known.isExact !== length.isExact)) {
    setLength(known);
  }
  useLayoutEffect(() => {
    setMargin((body.current?.getBoundingClientRect().top ?? 0) + window.scrollY);
  }, [total, error]);
  const jobAt = (index: number): Job | undefined => {
    const start = Math.floor(index / PAGE_ROWS) * PAGE_ROWS;
    return pages[starts.indexOf(start)]?.data?.jobs[index - start];
  };
  return (
    <>
      {error && <ErrorNote error={error} onRetry={() => pages.forEach((page) => void page.refetch())} />}
      {total === undefined ? (
        !error && <Loading what="Loading jobs" />
      ) : total === 0 ? (
        empty
      ) : (
        <>
          <Text size="sm" c="dimmed" role="status">
            {length?.isExact === false ? "Very many jobs; the filter finds some of them" : formatPlural(total, "job")}
          </Text>
          <div
            role="table"
            aria-label={label}
            aria-rowcount={length?.isExact === false ? -1 : total + 1}
            className={classes.table}
          >
            <div role="rowgroup">
              <div role="row" aria-rowindex={1} className={classes.head}>
                <span role="columnheader">Job</span>
                <span role="columnheader">Status</span>
                <span role="columnheader" className={classes.wide}>
                  Message
                </span>
                <span role="columnheader">Created</span>
                <span role="columnheader" className={classes.wide}>
                  Duration
                </span>
              </div>
            </div>
            <div role="rowgroup" ref={body} className={classes.body} style={{ height: virtual.getTotalSize() }}>
              {rows.map(({ index, start }) => (
                <JobRow key={index} index={index} top={start - margin} job={jobAt(index)} />
              ))}
            </div>
          </div>
        </>
      )}
    </>
  );
}

interface JobRowProps {
  readonly index: number;
  readonly top: number;
  /** Not fetched yet when left out. */
  readonly job: Job | undefined;
}

function JobRow({ index, top, job }: JobRowProps) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes.row}
      style={{ height: ROW, transform: `translateY(${top}px)` }}
    >
      {job === undefined ? (
        <span role="cell">…</span>
      ) : (
        <>
          <span role="cell" className={classes.name}>
            <Anchor component={Link} to={`/processing/jobs/${job.jobID}`} fw={600} size="sm" truncate>
              {job.processID}
            </Anchor>
            <Text span size="xs" c="dimmed" ff="monospace">
              {job.jobID.slice(0, 8)}
            </Text>
          </span>
          <span role="cell">
            <StatusBadge status={job.status} />
            {isActive(job.status) && (
              <Progress value={job.progress} size="xs" mt={4} w={90} aria-label={`Progress of ${job.processID}`} />
            )}
          </span>
          <Text role="cell" span size="sm" c="dimmed" truncate className={classes.wide}>
            {summarizeFailure(job.message)}
          </Text>
          <Text role="cell" span size="sm">
            <RelativeTime time={job.created} />
          </Text>
          <Text role="cell" span size="sm" className={classes.wide}>
            {job.started !== undefined && job.finished !== undefined
              ? formatDuration((Date.parse(job.finished) - Date.parse(job.started)) / 1000)
              : ""}
          </Text>
        </>
      )}
    </div>
  );
}
