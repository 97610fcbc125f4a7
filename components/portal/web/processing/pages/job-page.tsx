import { Alert, Button, Group, Paper, Progress, SimpleGrid, Stack, Tabs, Text } from "@mantine/core";
import {
  Awaited,
  CopyButton,
  Loading,
  Page,
  RelativeTime,
  formatDuration,
  notifyDone,
  notifyFailed,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQuery } from "@tanstack/react-query";
import { FileQuestion, RotateCcw, Square, Trash2 } from "lucide-react";
import { type ReactNode, Suspense, lazy, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";

import type { Job } from "../api/processing-client.ts";
import { isGone, jobQuery, useProcessing, useRefresh } from "../api/processing.ts";
import { isActive } from "../model/step-states.ts";
import { JobInputs } from "../parts/job-inputs.tsx";
import { JobLog } from "../parts/job-log.tsx";
import { JobSteps } from "../parts/job-steps.tsx";
import { StatusBadge } from "../parts/status-badge.tsx";
import { Trail } from "../parts/trail.tsx";
import { NothingThere } from "../../src/nothing-there.tsx";

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
        <NothingThere title="There is no such job" icon={FileQuestion} to="/processing/jobs" label="To the jobs">
          It was deleted, or it belongs to somebody else.
        </NothingThere>
      ) : (
        <Awaited query={job} what="Reading the job">
          {(found) => <JobParts key={found.jobID} job={found} />}
        </Awaited>
      )}
    </Page>
  );
}

function JobParts({ job }: { readonly job: Job }) {
  const [tab, setTab] = useState<string | null>(job.status === "successful" ? "results" : "steps");
  const [step, setStep] = useState<string>();
  const { status } = job;
  // Who waits for the results is shown them when they are there.
  const [wasActive, setWasActive] = useState(isActive(status));
  if (wasActive && !isActive(status)) {
    setWasActive(false);
    if (status === "successful" && tab === "steps") {
      setTab("results");
    }
  }
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
  const [first = "", ...rest] = message.split("\n");
  const seconds = (from: string, to: string) => (Date.parse(to) - Date.parse(from)) / 1000;
  return (
    <Paper withBorder p="md">
      <Stack gap="sm">
        <Group gap="sm" role="status" aria-live="polite">
          <StatusBadge status={status} />
          <Text size="sm" style={{ overflowWrap: "anywhere" }}>
            {first}
          </Text>
        </Group>
        {isActive(status) && <Progress value={progress} aria-label="Progress" />}
        {status === "failed" && rest.length > 0 && (
          <Alert color="red" variant="light" title="What the step said last">
            <pre style={{ margin: 0, whiteSpace: "pre-wrap", overflowWrap: "anywhere", fontSize: 12 }}>
              {rest.join("\n")}
            </pre>
          </Alert>
        )}
        <SimpleGrid cols={{ base: 2, sm: 4 }} spacing="xs">
          <Fact name="Asked for">
            <RelativeTime time={created} />
          </Fact>
          <Fact name="Waited">{started === undefined ? "still waits" : formatDuration(seconds(created, started))}</Fact>
          <Fact name="Ran">
            {started === undefined
              ? "not yet"
              : finished === undefined
                ? `${progress} %`
                : formatDuration(seconds(started, finished))}
          </Fact>
          <Fact name="Job">
            <Group gap={4} wrap="nowrap">
              <Text span size="sm" ff="monospace" truncate>
                {job.jobID.slice(0, 8)}
              </Text>
              <CopyButton value={job.jobID} label="Copy the whole id" />
            </Group>
          </Fact>
        </SimpleGrid>
      </Stack>
    </Paper>
  );
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
  const ask = async () => {
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
        onClick={() => void ask()}
      >
        {active ? "Cancel" : "Delete"}
      </Button>
    </>
  );
}
