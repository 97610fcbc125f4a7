import { ActionIcon, Anchor, Button, Group, Stack, Text, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, RelativeTime, useChange, useConfirm } from "@swath/ui";
import { useQuery } from "@tanstack/react-query";
import { DatabaseZap, Play, Plus, Trash2 } from "lucide-react";
import { useMemo, useState } from "react";

import { type Harvester, listHarvesters, removeHarvester, runHarvester } from "../../api/registration.ts";
import { HarvesterDialog } from "./harvester-dialog.tsx";
import { TaskState, lookAgain } from "./task-state.tsx";

const LISTS = ["harvesters", "registration-tasks"] as const;

/** Harvesters of the platform: when they run, what the last run brought. */
export function Harvesters() {
  const [edited, setEdited] = useState<Harvester | "new">();
  const harvesters = useQuery({
    queryKey: ["harvesters"],
    queryFn: listHarvesters,
    refetchInterval: ({ state: { data } }) => lookAgain(data?.map(({ last_run: last }) => last)),
  });
  const run = useChange<Harvester>({
    request: ({ name }) => runHarvester(name),
    failed: "The harvester was not started",
    lists: LISTS,
  });
  const remove = useChange<Harvester>({
    request: ({ name }) => removeHarvester(name),
    failed: "The harvester was not removed",
    lists: LISTS,
  });
  const send = useConfirm();
  const columns = useMemo(
    () =>
      toColumns({
        onEdit: setEdited,
        onRun: run,
        onRemove: (harvester) =>
          void send({
            title: `Remove ${harvester.name}?`,
            body: "It does not run any more. What it brought stays in the catalogue.",
            action: "Remove harvester",
            danger: true,
          }).then((yes) => yes && remove(harvester)),
      }),
    [run, remove, send],
  );
  const add = (
    <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setEdited("new")}>
      Add harvester
    </Button>
  );
  return (
    <Stack component="section" aria-label="Harvesters">
      <Group justify="space-between">
        <Title order={2}>Harvesters</Title>
        {harvesters.data !== undefined && harvesters.data.length > 0 && add}
      </Group>
      <Awaited query={harvesters} what="Loading harvesters">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="No harvesters" icon={DatabaseZap} action={add}>
              A harvester brings what another catalogue or a bucket has into this catalogue, by schedule or as it comes.
            </Empty>
          ) : (
            <DataTable
              label="Harvesters"
              rows={rows}
              rowKey={({ name }) => name}
              columns={columns}
              initialSort={{ column: "name", direction: "ascending" }}
              rowHeight={56}
            />
          )
        }
      </Awaited>
      {edited !== undefined && (
        <HarvesterDialog
          key={edited === "new" ? "" : edited.name}
          harvester={edited === "new" ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Stack>
  );
}

interface Actions {
  readonly onEdit: (harvester: Harvester) => void;
  readonly onRun: (harvester: Harvester) => void;
  readonly onRemove: (harvester: Harvester) => void;
}

function toColumns({ onEdit, onRun, onRemove }: Actions): readonly Column<Harvester>[] {
  return [
    {
      key: "name",
      header: "Name",
      sortBy: ({ name }) => name,
      render: (harvester) => (
        <>
          <Anchor component="button" type="button" onClick={() => onEdit(harvester)}>
            {harvester.name}
          </Anchor>
          <Text size="xs" c="dimmed" truncate>
            {harvester.resource.type} {harvester.resource.url}
          </Text>
        </>
      ),
    },
    {
      key: "schedule",
      header: "Schedule",
      width: "130px",
      hideBelow: "sm",
      render: ({ schedule }) => schedule ?? "On request",
    },
    {
      key: "next",
      header: "Next run",
      width: "140px",
      hideBelow: "md",
      render: ({ next_run: next }) => (next === null ? "" : <RelativeTime time={next} />),
    },
    {
      key: "last",
      header: "Last run",
      width: "320px",
      render: ({ last_run: last }) => (last === null ? "Never" : <TaskState task={last} />),
    },
    {
      key: "actions",
      header: "Actions",
      hideHeader: true,
      width: "90px",
      align: "end",
      render: (harvester) => (
        <Group gap={4} wrap="nowrap" justify="flex-end">
          <ActionIcon variant="subtle" aria-label={`Run ${harvester.name}`} onClick={() => onRun(harvester)}>
            <Play size={16} aria-hidden />
          </ActionIcon>
          <ActionIcon
            variant="subtle"
            color="red"
            aria-label={`Remove ${harvester.name}`}
            onClick={() => onRemove(harvester)}
          >
            <Trash2 size={16} aria-hidden />
          </ActionIcon>
        </Group>
      ),
    },
  ];
}
