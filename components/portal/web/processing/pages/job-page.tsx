import { Alert, Button, Group, Paper, Progress, SimpleGrid, Stack, Tabs, Text } from "@mantine/core";
import {
  Awaited,
  CopyButton,
  Loading,
  Page,
  RelativeTime,
  formatBytes,
  formatDuration,
  notifyDone,
  notifyFailed,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQuery } from "@tanstack/react-query";
import { FileQuestion, RotateCcw, Square, Trash2 } from "lucide-react";
import { type ReactNode, Suspense, lazy, useEffect, useState } from "react";
import { Link, useNavigate, useParams, useSearchParams } from "react-router";

import type { Job } from "../api/processing-client.ts";
import { inputsQuery, isGone, jobQuery, useProcessing, useRefresh } from "../api/processing.ts";
import { splitFailure } from "../model/failure-text.ts";
import { isActive } from "../model/step-states.ts";
import { CopyJob } from "../parts/copy-job.tsx";
import { JobInputs } from "../parts/job-inputs.tsx";
import { JobLinks } from "../parts/job-links.tsx";
import { JobLog } from "../parts/job-log.tsx";
import { JobSteps } from "../parts/job-steps.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { Trail } from "../parts/trail.tsx";
import { NotFoundState } from "../../src/not-found-state.tsx";

const JobResults = lazy(async () => ({ default: (await import("../results/job-results.tsx")).JobResults }));

/** A job while it runs and afterwards: how far, what it says, what it was given, what came of it. */
export function Component() {
  const { id = "" } = useParams();
  const client = useProcessing();
  const job = useQuery(jobQuery(client, id));
  const title = job.data === undefined ? "Job" : `${job.data.processID} ${id.slice(0, 8)}`;
  return (
    <Page
      title={title}
      above={<Trail steps={[{ to: "/processing/jobs", label: "Jobs" }, { label: id.slice(0, 8) }]} />}
      actions={job.data && <JobActions job={job.data} />}
    >
      {isGone(job.error) ? (
        <NotFoundState title="There is no such job" icon={FileQuestion} to="/processing/jobs" label="Back to jobs">
          It was deleted, or it belongs to somebody else.
        </NotFoundState>
      ) : (
        <Awaited query={job} what="Reading the job">
          {(found) => <JobParts key={found.jobID} job={found} />}
        </Awaited>
      )}
    </Page>
  );
}

const TABS = ["results", "steps", "log", "inputs"];

function JobParts({ job }: { readonly job: Job }) {
  // Tab and step are in the address: a link to a log leads to the log.
  const [search, setSearch] = useSearchParams();
  const { status } = job;
  const chosen = search.get("tab");
  const isKnown = chosen !== null && TABS.includes(chosen) && (chosen !== "results" || status === "successful");
  // Without a choice the steps are shown until there are results.
  const tab = isKnown ? chosen : status === "successful" ? "results" : "steps";
  const step = search.get("step") ?? undefined;
  const setTab = (next: string | null) => setSearch(next === null ? {} : { tab: next }, { replace: true });
  const setStep = (next: string | undefined) =>
    setSearch({ tab: "steps", ...(next !== undefined && { step: next }) }, { replace: true });
  return (
    <Stack>
      <JobHead job={job} />
      <Tabs value={tab} onChange={setTab} keepMounted={false}>
        <Tabs.List aria-label="About the job">
          <Tabs.Tab value="results" disabled={status !== "successful"}>
            Results
          </Tabs.Tab>
          <Tabs.Tab value="steps">Steps</Tabs.Tab>
          <Tabs.Tab value="log">Log</Tabs.Tab>
          <Tabs.Tab value="inputs">Inputs</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="results" pt="md">
          <Suspense fallback={<Loading what="Loading the results" />}>
            <JobResults job={job} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="steps" pt="md">
          <JobSteps job={job} selected={step} onSelect={(id) => setStep(id === step ? undefined : id)} />
          {step !== undefined && <JobLog key={step} job={job} step={step} />}
        </Tabs.Panel>
        <Tabs.Panel value="log" pt="md">
          <JobLog job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="inputs" pt="md">
          <JobInputs job={job} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function JobHead({ job }: { readonly job: Job }) {
  const { status, progress, message, created, started, finished } = job;
  const { headline, output } = splitFailure(message);
  const now = useNow(isActive(status));
  const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group gap="sm" role="status" aria-live="polite">
          <StatusBadge status={status} />
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {headline}
          </Text>
        </Group>
        {isActive(status) && <Progress value={progress} aria-label="Progress" />}
        {status === "failed" && output !== "" && (
          <Alert color="red" variant="light" title="Last output of the step">
            <pre style={{ margin: 0, whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontSize: 12 }}>{output}</pre>
          </Alert>
        )}
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
          <Fact name="Created">
            <RelativeTime time={created} />
          </Fact>
          <Fact name="Queued">
            {formatDuration(seconds(created, started ?? finished ?? now))}
            {started === undefined && isActive(status) && " so far"}
          </Fact>
          <Fact name="Duration">
            {started === undefined
              ? "not started"
              : `${formatDuration(seconds(started, finished ?? now))}${finished === undefined ? ` so far, ${progress} % done` : ""}`}
          </Fact>
          <Fact name="Job">
            <Group gap={4} wrap="nowrap">
              <Text span size="sm" ff="monospace" truncate>
                {job.jobID.slice(0, 8)}
              </Text>
              <CopyButton value={job.jobID} label="Copy the whole id" />
            </Group>
          </Fact>
          <UsageFacts job={job} />
        </SimpleGrid>
        <JobLinks job={job} />
      </Stack>
    </Paper>
  );
}

function UsageFacts({ job: { usage } }: { readonly job: Job }) {
  return (
    <>
      {usage?.cpuSeconds !== undefined && <Fact name="Processor time">{formatDuration(usage.cpuSeconds)}</Fact>}
      {usage?.peakMemoryBytes !== undefined && (
        <Fact name="Peak memory of a step">{formatBytes(usage.peakMemoryBytes)}</Fact>
      )}
      {usage?.bytesIn !== undefined && <Fact name="Inputs">{formatBytes(usage.bytesIn)}</Fact>}
      {usage?.bytesOut !== undefined && <Fact name="Results">{formatBytes(usage.bytesOut)}</Fact>}
    </>
  );
}

/** The time, second by second while a job is active. ISO 8601. */
function useNow(isRunning: boolean): string {
  const [now, setNow] = useState(() => new Date().toISOString());
  useEffect(() => {
    if (!isRunning) {
      return undefined;
    }
    const timer = setInterval(() => setNow(new Date().toISOString()), 1000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  );
}

function JobActions({ job }: { readonly job: Job }) {
  const client = useProcessing();
  const navigate = useNavigate();
  const refresh = useRefresh();
  const confirm = useConfirm();
  const active = isActive(job.status);
  const inputs = useQuery(inputsQuery(client, job.jobID));
  const dismiss = useMutation({
    mutationFn: () => client.dismiss(job.jobID),
    onSuccess: async () => {
      notifyDone(active ? "The job is cancelled." : "The job is deleted.");
      if (!active) {
        await navigate("/processing/jobs");
      }
      await refresh();
    },
    onError: (error) => notifyFailed(active ? "Not cancelled" : "Not deleted", error),
  });
  const send = async () => {
    const isSure = await confirm(
      active
        ? {
            title: "Cancel this job?",
            body: "What it has done so far is lost.",
            action: "Cancel the job",
            danger: true,
          }
        : {
            title: "Delete this job?",
            body: "Its record, its log and its place in the list are gone then. What it stored stays in the workspace.",
            action: "Delete",
            danger: true,
          },
    );
    if (isSure) {
      dismiss.mutate();
    }
  };
  return (
    <>
      <CopyJob process={job.processID} inputs={inputs.data} />
      <Button
        component={Link}
        to={`/processing/processes/${encodeURIComponent(job.processID)}/run?from=${job.jobID}`}
        variant="default"
        leftSection={<RotateCcw size={16} aria-hidden />}
      >
        Run again
      </Button>
      <Button
        variant="default"
        c="var(--mantine-color-error)"
        leftSection={active ? <Square size={16} aria-hidden /> : <Trash2 size={16} aria-hidden />}
        loading={dismiss.isPending}
        onClick={() => void send()}
      >
        {active ? "Cancel" : "Delete"}
      </Button>
    </>
  );
}
