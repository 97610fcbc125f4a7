import { Button, Collapse, Group, MultiSelect, NumberInput, Paper, SimpleGrid, TextInput } from "@mantine/core";
import { Empty, Page } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Funnel, FunnelX, ListChecks } from "lucide-react";
import { useMemo, useState } from "react";
import { Link, useSearchParams } from "react-router";

import { processesQuery, useProcessing } from "../api/processing.ts";
import { JOB_STATUSES, type JobFilter, isEmptyFilter, readFilter, writeFilter } from "../model/job-filter.ts";
import { JobTable } from "../parts/job-table.tsx";
import { Sections } from "../parts/sections.tsx";
import { statusLabel } from "../parts/status-badge.tsx";

/** What is and was run. */
export function Component() {
  const [query, setQuery] = useSearchParams();
  const filter = useMemo(() => readFilter(query), [query]);
  const isFiltered = !isEmptyFilter(filter);
  const [isOpen, setOpen] = useState(isFiltered);
  const change = (changed: Partial<JobFilter>) => setQuery(writeFilter({ ...filter, ...changed }), { replace: true });
  return (
    <Page
      title="Jobs"
      about="What is and was run, the latest first."
      actions={
        <Button
          variant="default"
          leftSection={<Funnel size={16} aria-hidden />}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Filter
        </Button>
      }
    >
      <Sections current="jobs" />
      <Collapse expanded={isOpen}>
        <Filters
          filter={filter}
          onChange={change}
          onClear={() => setQuery({}, { replace: true })}
          isFiltered={isFiltered}
        />
      </Collapse>
      <JobTable
        filter={filter}
        label="Jobs"
        empty={
          isFiltered ? (
            <Empty title="No job fits" icon={FunnelX}>
              Other statuses or dates may have some.
            </Empty>
          ) : (
            <Empty
              title="Nothing was run yet"
              icon={ListChecks}
              action={
                <Button component={Link} to="/processing/processes">
                  Choose a process
                </Button>
              }
            >
              A job appears here when a process is run, with its progress, its log and its results.
            </Empty>
          )
        }
      />
    </Page>
  );
}

interface FiltersProps {
  readonly filter: JobFilter;
  readonly onChange: (changed: Partial<JobFilter>) => void;
  readonly onClear: () => void;
  readonly isFiltered: boolean;
}

function Filters({ filter, onChange, onClear, isFiltered }: FiltersProps) {
  const processes = useQuery(processesQuery(useProcessing()));
  const ids = [...new Set([...(processes.data ?? []).map(({ id }) => id), ...filter.processes])];
  const seconds = (value: number | string) => (value === "" ? undefined : Number(value));
  const day = (value: string) => (value === "" ? undefined : value);
  return (
    <Paper withBorder p="md" component="section" aria-label="Filter">
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
        <MultiSelect
          label="Process"
          data={ids}
          value={[...filter.processes]}
          onChange={(value) => onChange({ processes: value })}
          placeholder={filter.processes.length === 0 ? "any" : ""}
          searchable
        />
        <MultiSelect
          label="Status"
          data={JOB_STATUSES.map((value) => ({ value, label: statusLabel(value) }))}
          value={[...filter.statuses]}
          onChange={(value) => onChange({ statuses: JOB_STATUSES.filter((status) => value.includes(status)) })}
          placeholder={filter.statuses.length === 0 ? "any" : ""}
        />
        <Group grow wrap="nowrap" align="flex-end">
          <TextInput
            type="date"
            label="From"
            value={filter.from ?? ""}
            onChange={({ currentTarget }) => onChange({ from: day(currentTarget.value) })}
          />
          <TextInput
            type="date"
            label="To"
            value={filter.to ?? ""}
            onChange={({ currentTarget }) => onChange({ to: day(currentTarget.value) })}
          />
        </Group>
        <Group grow wrap="nowrap" align="flex-end">
          <NumberInput
            label="Min. duration (s)"
            min={0}
            value={filter.minDuration ?? ""}
            onChange={(value) => onChange({ minDuration: seconds(value) })}
          />
          <NumberInput
            label="Max. duration (s)"
            min={0}
            value={filter.maxDuration ?? ""}
            onChange={(value) => onChange({ maxDuration: seconds(value) })}
          />
        </Group>
      </SimpleGrid>
      {isFiltered && (
        <Button mt="sm" size="xs" variant="default" leftSection={<FunnelX size={14} aria-hidden />} onClick={onClear}>
          Show all
        </Button>
      )}
    </Paper>
  );
}
