import { Anchor, Button, Group, NativeSelect, Stack, Text, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, Empty, RelativeTime, notifyDone, notifyFailed } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Inbox } from "lucide-react";
import { useMemo, useState } from "react";

import { type RegistrationTask, listTasks, repeatAll } from "../../api/registration.ts";
import { TaskDialog } from "./task-dialog.tsx";
import { TaskState, describeTask, lookAgain } from "./task-state.tsx";

const STATES = [
  { value: "", label: "All" },
  { value: "failed", label: "Set aside" },
  { value: "running", label: "Running" },
  { value: "queued", label: "Queued" },
  { value: "done", label: "Done" },
];

/** What was accepted to be registered, the latest first. */
export function Tasks() {
  const client = useQueryClient();
  const [state, setState] = useState("");
  const [opened, setOpened] = useState<string>();
  const tasks = useQuery({
    queryKey: ["registration-tasks", state],
    queryFn: () => listTasks(state),
    refetchInterval: ({ state: { data } }) => lookAgain(data),
  });
  const repeat = useMutation({
    mutationFn: repeatAll,
    onSuccess: (count) => notifyDone(`${count} repeated.`),
    onError: (error) => notifyFailed("Nothing was repeated", error),
    onSettled: () => client.invalidateQueries({ queryKey: ["registration-tasks"] }),
  });
  const columns = useMemo(() => toColumns(setOpened), []);
  return (
    <Stack component="section" aria-label="Registrations">
      <Group justify="space-between" align="flex-end">
        <Title order={2}>Registrations</Title>
        <Group align="flex-end">
          {state === "failed" && (tasks.data?.length ?? 0) > 0 && (
            <Button variant="default" loading={repeat.isPending} onClick={() => repeat.mutate()}>
              Repeat all
            </Button>
          )}
          <NativeSelect
            label="State"
            data={STATES}
            value={state}
            onChange={(event) => setState(event.currentTarget.value)}
          />
        </Group>
      </Group>
      <Awaited query={tasks} what="Loading registrations">
        {(rows) =>
          rows.length === 0 ? (
            <Empty title="Nothing here" icon={Inbox}>
              {state === "failed" ? "Nothing was set aside." : "What is registered appears here."}
            </Empty>
          ) : (
            <DataTable label="Registrations" rows={rows} rowKey={({ id }) => id} columns={columns} rowHeight={56} />
          )
        }
      </Awaited>
      {opened !== undefined && <TaskDialog key={opened} id={opened} onClose={() => setOpened(undefined)} />}
    </Stack>
  );
}

function toColumns(onOpen: (id: string) => void): readonly Column<RegistrationTask>[] {
  return [
    {
      key: "what",
      header: "What",
      render: (task) => (
        <>
          <Anchor component="button" type="button" onClick={() => onOpen(task.id)} maw="100%" truncate>
            {describeTask(task) || `Task ${task.id}`}
          </Anchor>
          <Text size="xs" c={task.state === "failed" ? "red" : "dimmed"} truncate>
            {task.reason ?? `${task.kind}${task.workspace === null ? "" : ` into ${task.workspace}`}`}
          </Text>
        </>
      ),
    },
    { key: "state", header: "State", width: "320px", render: (task) => <TaskState task={task} /> },
    {
      key: "time",
      header: "Accepted",
      width: "140px",
      hideBelow: "sm",
      render: ({ created_at: time }) => <RelativeTime time={time} />,
    },
  ];
}
