import { Badge, Button, Checkbox, Group, Paper, PasswordInput, Text, TextInput, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, ErrorNote, deleteColumn, switchColumn, useChange } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";

import { change, projectApi, read } from "../api.ts";

interface Webhook {
  readonly id: number;
  readonly name: string;
  readonly enabled: boolean;
  readonly event_types: readonly string[];
  readonly targets: readonly { readonly address: string }[];
}

const EVENTS = [
  { value: "PUSH_ARTIFACT", label: "push" },
  { value: "PULL_ARTIFACT", label: "pull" },
  { value: "DELETE_ARTIFACT", label: "delete" },
  { value: "TAG_RETENTION", label: "retention" },
  { value: "QUOTA_WARNING", label: "quota nearly used" },
  { value: "QUOTA_EXCEED", label: "quota exceeded" },
  { value: "SCANNING_COMPLETED", label: "scan" },
  { value: "SCANNING_FAILED", label: "failed scan" },
];

/** Whom the project tells of pushes and deletions. */
export function Webhooks({ project }: { readonly project: string }) {
  const client = useQueryClient();
  const path = projectApi(project, "/webhook/policies");
  const hooks = useQuery({ queryKey: ["webhooks", project], queryFn: () => read<readonly Webhook[]>(path) });
  const enable = useChange<Webhook>({
    request: ({ id, name, enabled, event_types, targets }) =>
      change("PUT", `${path}/${id}`, {
        name,
        enabled: !enabled,
        event_types,
        targets: targets.map(({ address }) => ({ type: "http", address })),
      }),
    failed: "The webhook was not changed",
    lists: ["webhooks"],
  });
  const remove = useChange<Webhook>({
    request: ({ id }) => change("DELETE", `${path}/${id}`),
    failed: "The webhook was not deleted",
    lists: ["webhooks"],
  });
  const columns = useMemo(
    (): readonly Column<Webhook>[] => [
      { key: "name", header: "Name", width: "9rem", render: ({ name }) => name },
      {
        key: "address",
        header: "Address",
        render: ({ targets: [target] }) => (
          <Text size="sm" truncate title={target?.address}>
            {target?.address}
          </Text>
        ),
      },
      {
        key: "events",
        header: "Of",
        width: "13rem",
        hideBelow: "md",
        render: ({ event_types: types }) => (
          <Group gap={4}>
            {types.map((type) => (
              <Badge key={type} variant="light" tt="none">
                {EVENTS.find(({ value }) => value === type)?.label ?? type}
              </Badge>
            ))}
          </Group>
        ),
      },
      switchColumn(({ name }) => `Tell ${name}`, enable),
      deleteColumn(
        ({ name }) => `the webhook ${name}`,
        async (hook) => remove(hook),
      ),
    ],
    [enable, remove],
  );
  return (
    <Paper withBorder p="md" component="section" aria-label="Webhooks">
      <Title order={2} mb="xs">
        Webhooks
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Each event is sent as JSON, again after a while where it was not taken, for a day.
      </Text>
      <Awaited query={hooks} what="Loading webhooks">
        {(list) =>
          list.length > 0 && (
            <DataTable label="Webhooks" rows={list} rowKey={({ id }) => String(id)} columns={columns} />
          )
        }
      </Awaited>
      <AddWebhook path={path} onAdded={() => client.invalidateQueries({ queryKey: ["webhooks", project] })} />
    </Paper>
  );
}

function AddWebhook({ path, onAdded }: { readonly path: string; readonly onAdded: () => unknown }) {
  const [name, setName] = useState("");
  const [address, setAddress] = useState("");
  const [login, setLogin] = useState("");
  const [events, setEvents] = useState<string[]>(["PUSH_ARTIFACT"]);
  const add = useMutation({
    mutationFn: () =>
      change("POST", path, {
        name,
        event_types: events,
        targets: [{ type: "http", address, ...(login !== "" && { auth_header: login }) }],
      }),
    onSuccess: () => {
      setName("");
      setAddress("");
      setLogin("");
      return onAdded();
    },
  });
  const isReady = name !== "" && URL.canParse(address) && events.length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      add.mutate();
    }
  };
  return (
    <form onSubmit={submit}>
      {add.error && <ErrorNote error={add.error} title="The webhook was not added" />}
      <Group align="flex-end" mt="sm">
        <TextInput
          label="Name of the webhook"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
          w={170}
        />
        <TextInput
          label="Address"
          placeholder="https://"
          type="url"
          value={address}
          onChange={(event) => setAddress(event.currentTarget.value)}
          autoComplete="off"
          miw={240}
          flex={1}
        />
        <PasswordInput
          label="Authorization field"
          value={login}
          onChange={(event) => setLogin(event.currentTarget.value)}
          autoComplete="off"
          w={180}
        />
        <Checkbox.Group label="Tell of" value={events} onChange={setEvents}>
          <Group mt="xs">
            {EVENTS.map(({ value, label }) => (
              <Checkbox key={value} value={value} label={label} />
            ))}
          </Group>
        </Checkbox.Group>
        <Button type="submit" variant="default" loading={add.isPending} disabled={!isReady}>
          Add the webhook
        </Button>
      </Group>
    </form>
  );
}
