import { Anchor, Stack, Table, Text } from "@mantine/core";
import { Awaited, formatBytes, formatDuration } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";

import type { Job } from "../api/processing-client.ts";
import { graphQuery, isGone, stepsQuery, useProcessing } from "../api/processing.ts";
import { summarizeFailure } from "../model/failure-text.ts";
import { type StepRecord, type StepState, describeState, toStepStates, withoutIndices } from "../model/step-states.ts";
import type { WorkflowGraph } from "../model/workflow-graph.ts";
import { Workflow } from "./workflow.tsx";

interface JobStepsProps {
  readonly job: Job;
  readonly selected: string | undefined;
  readonly onSelect: (step: string) => void;
}

/** How far each step of a job is: on the picture of its workflow, and as a table. */
export function JobSteps({ job, selected, onSelect }: JobStepsProps) {
  const client = useProcessing();
  const steps = useQuery(stepsQuery(client, job));
  // A process may be replaced or gone since; then the table alone tells.
  const graph = useQuery({ ...graphQuery(client, job.processID), retry: false });
  return (
    <Awaited query={steps} what="Reading the steps">
      {(records) => (
        <Stack>
          {isGone(graph.error) && (
            <Text c="dimmed" size="sm">
              The process {job.processID} is no longer deployed, so there is no picture of its steps.
            </Text>
          )}
          {graph.data !== undefined && (
            <StepPicture graph={graph.data} records={records} job={job} selected={selected} onSelect={onSelect} />
          )}
          <StepTable graph={graph.data} records={records} job={job} selected={selected} onSelect={onSelect} />
        </Stack>
      )}
    </Awaited>
  );
}

interface StepPartsProps extends JobStepsProps {
  readonly graph: WorkflowGraph | undefined;
  readonly records: readonly StepRecord[];
}

function StepPicture({ graph, records, job, selected, onSelect }: StepPartsProps & { readonly graph: WorkflowGraph }) {
  const states = useMemo(() => toStepStates(graph, records, job.status), [graph, records, job.status]);
  return <Workflow graph={graph} states={states} selected={selected} onSelect={onSelect} />;
}

function StepTable({ graph, records, job, selected, onSelect }: StepPartsProps) {
  const rows = useMemo(() => toRows(graph, records, job), [graph, records, job]);
  if (rows.length === 0) {
    return (
      <Text c="dimmed" size="sm">
        No step has started.
      </Text>
    );
  }
  return (
    <Table.ScrollContainer minWidth={760} type="native" tabIndex={0} role="region" aria-label="Steps">
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Step</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>Duration</Table.Th>
            <Table.Th>Processor time</Table.Th>
            <Table.Th>Peak memory</Table.Th>
            <Table.Th>Files in</Table.Th>
            <Table.Th>Files out</Table.Th>
            <Table.Th>Message</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ id, label, state }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Anchor
                  component="button"
                  type="button"
                  size="sm"
                  aria-pressed={selected === id}
                  onClick={() => onSelect(id)}
                  title="Show its log"
                >
                  {label}
                </Anchor>
              </Table.Td>
              <Table.Td>{describeState(state)}</Table.Td>
              <Table.Td>{durationOf(state)}</Table.Td>
              <Table.Td>{toText(state.usage.cpuSeconds, formatDuration)}</Table.Td>
              <Table.Td>{toText(state.usage.peakMemoryBytes, formatBytes)}</Table.Td>
              <Table.Td>{toText(state.usage.bytesIn, formatBytes)}</Table.Td>
              <Table.Td>{toText(state.usage.bytesOut, formatBytes)}</Table.Td>
              <Table.Td style={{ overflowWrap: "anywhere" }}>
                {state.exitCode !== undefined && state.exitCode !== 0 && `Status ${state.exitCode}. `}
                {state.message !== undefined && summarizeFailure(state.message)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

interface Row {
  readonly id: string;
  readonly label: string;
  readonly state: StepState;
}

function toRows(graph: WorkflowGraph | undefined, records: readonly StepRecord[], job: Job): readonly Row[] {
  const nodes = graph?.nodes.filter(({ kind }) => kind === "step") ?? [];
  const known = new Set(nodes.map(({ id }) => id));
  // Steps of a former version of the process are not in its graph.
  const others = [...new Set(records.map(({ name }) => withoutIndices(name)))].filter(
    (name) => !known.has(name) && !(name.startsWith("(") && nodes.length === 1),
  );
  const all = [...nodes, ...others.map((name) => ({ id: name, label: name }))];
  const states = toStepStates(
    {
      nodes: all.map(({ id, label }) => ({ id, label, kind: "step", type: "", scatter: [], conditional: false })),
      edges: [],
    },
    records,
    job.status,
  );
  return all.flatMap(({ id, label }) => {
    const state = states.get(id);
    return state === undefined ? [] : [{ id, label, state }];
  });
}

/** What was not seen has no text. */
const toText = (value: number | undefined, format: (value: number) => string): string =>
  value === undefined ? "" : format(value);

function durationOf({ started, finished }: StepState): string {
  return started === undefined || finished === undefined
    ? ""
    : formatDuration((Date.parse(finished) - Date.parse(started)) / 1000);
}
