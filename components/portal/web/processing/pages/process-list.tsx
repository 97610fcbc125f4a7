import { Anchor, Badge, Button, Group, Text } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, Page } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { Boxes, Play, Plus } from "lucide-react";
import { Link } from "react-router";

import { processesQuery, useProcessing } from "../api/processing.ts";
import type { ProcessSummary } from "../model/process-description.ts";
import { Sections } from "../parts/sections.tsx";

/** What may be run. */
export function Component() {
  const client = useProcessing();
  const processes = useQuery(processesQuery(client));
  const deploy = (
    <Button component={Link} to="/processing/deploy" leftSection={<Plus size={16} aria-hidden />}>
      Deploy a package
    </Button>
  );
  return (
    <Page title="Processes" about="Programs that run beside the data, made from application packages." actions={deploy}>
      <Sections current="processes" />
      <Awaited query={processes} what="Reading the processes">
        {(found) => (
          <>
            {found.every(({ mutable }) => mutable === false) && (
              <Empty title="No package is deployed yet" icon={Boxes} action={deploy}>
                An application package is a workflow in CWL that says which programs run on which scenes. Deploy one by
                its address, from a file, or write it here.
              </Empty>
            )}
            <DataTable
              label="Processes"
              rows={found}
              rowKey={({ id }) => id}
              columns={COLUMNS}
              rowHeight={56}
              initialSort={{ column: "name", direction: "ascending" }}
            />
          </>
        )}
      </Awaited>
    </Page>
  );
}

const COLUMNS: readonly Column<ProcessSummary>[] = [
  {
    key: "name",
    header: "Name",
    sortBy: ({ title, id }) => title ?? id,
    render: ({ id, title, mutable }) => (
      <Group gap="xs" wrap="nowrap">
        <Anchor component={Link} to={`/processing/processes/${encodeURIComponent(id)}`} fw={600} truncate>
          {title ?? id}
        </Anchor>
        {mutable === false && (
          <Badge variant="default" size="sm">
            built in
          </Badge>
        )}
      </Group>
    ),
  },
  {
    key: "description",
    header: "What it does",
    hideBelow: "sm",
    width: "45%",
    render: ({ description }) => (
      <Text size="sm" c="dimmed" lineClamp={2}>
        {description}
      </Text>
    ),
  },
  { key: "version", header: "Version", width: "6.5rem", hideBelow: "md", render: ({ version }) => version },
  {
    key: "run",
    header: "Run",
    hideHeader: true,
    width: "6.5rem",
    align: "end",
    render: ({ id, title }) => (
      <Button
        component={Link}
        to={`/processing/processes/${encodeURIComponent(id)}/run`}
        size="xs"
        variant="default"
        leftSection={<Play size={14} aria-hidden />}
        aria-label={`Run ${title ?? id}`}
      >
        Run
      </Button>
    ),
  },
];
