import { Alert, Button, Group, JsonInput, Modal, ScrollArea, Stack, Table, Text } from "@mantine/core";
import { Awaited, ErrorNote, notifyDone } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import {
  type RegistrationTask,
  type TaskProblem,
  cancelTask,
  listProblems,
  readTask,
  repeatTask,
} from "../../api/registration.ts";
import { TaskState, describeTask, lookAgain } from "./task-state.tsx";

/** Members of a request that may be mended before it is repeated. */
const REPAIRABLE = ["url", "parent_identifier", "document", "xml"];

/** One registration: how far it is, what could not be registered, and repeating it with a mended request. */
export function TaskDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const task = useQuery({
    queryKey: ["registration-task", id],
    queryFn: async () => ({ task: await readTask(id), problems: await listProblems(id) }),
    refetchInterval: ({ state: { data } }) => lookAgain(data && [data.task]),
  });
  return (
    <Modal opened onClose={onClose} title={`Registration ${id}`} size="xl" closeButtonProps={{ "aria-label": "Close" }}>
      <Awaited query={task} what="Loading the registration">
        {(found) => <TaskDetails {...found} />}
      </Awaited>
    </Modal>
  );
}

function TaskDetails({
  task,
  problems,
}: {
  readonly task: RegistrationTask;
  readonly problems: readonly TaskProblem[];
}) {
  const client = useQueryClient();
  const [request, setRequest] = useState(() => JSON.stringify(toRepairable(task.request), null, 2));
  const change = useMutation({
    mutationFn: (work: () => Promise<void>) => work(),
    onSuccess: () => notifyDone(`Registration ${task.id} changed.`),
    onSettled: () =>
      Promise.all(
        ["registration-task", "registration-tasks", "harvesters"].map((key) =>
          client.invalidateQueries({ queryKey: [key] }),
        ),
      ),
  });
  const isSetAside = task.state === "failed" || task.state === "cancelled";
  const repair = parseRepair(request);
  const canRepair = Object.keys(toRepairable(task.request)).length > 0;
  return (
    <Stack>
      {change.error && <ErrorNote error={change.error} title="Not changed" />}
      <Text style={{ overflowWrap: "anywhere" }}>{describeTask(task)}</Text>
      <TaskState task={task} />
      {task.reason !== null && (
        <Alert color={task.state === "failed" ? "red" : "gray"} style={{ overflowWrap: "anywhere" }}>
          {task.reason}
        </Alert>
      )}
      {problems.length > 0 && (
        <ScrollArea.Autosize mah={280}>
          <Table aria-label="Records that could not be registered">
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Record</Table.Th>
                <Table.Th scope="col">Reason</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {problems.map(({ record, reason }, index) => (
                // oxlint-disable-next-line react/no-array-index-key -- a record may be named twice
                <Table.Tr key={`${index} ${record}`}>
                  <Table.Td style={{ overflowWrap: "anywhere" }}>{record}</Table.Td>
                  <Table.Td style={{ overflowWrap: "anywhere" }}>{reason}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollArea.Autosize>
      )}
      {isSetAside && canRepair && (
        <JsonInput
          label="Request"
          description="What is mended here is repeated"
          value={request}
          onChange={setRequest}
          autosize
          minRows={3}
          maxRows={16}
          error={repair === undefined ? "This is not valid JSON." : undefined}
          spellCheck={false}
        />
      )}
      <Group justify="flex-end">
        {isSetAside && (
          <Button
            loading={change.isPending}
            disabled={repair === undefined}
            onClick={() => change.mutate(() => repeatTask(task.id, repair))}
          >
            Repeat
          </Button>
        )}
        {(task.state === "queued" || task.state === "running") && (
          <Button variant="default" loading={change.isPending} onClick={() => change.mutate(() => cancelTask(task.id))}>
            Cancel registration
          </Button>
        )}
      </Group>
    </Stack>
  );
}

const toRepairable = (request: RegistrationTask["request"]): object =>
  Object.fromEntries(Object.entries(request).filter(([key]) => REPAIRABLE.includes(key)));

function parseRepair(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
