import { Badge, Button, Group, Paper, PasswordInput, Text, TextInput, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, ErrorNote, Page, deleteColumn, notifyDone, useChange } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";

import { change, read } from "../api.ts";
import type { OtherRegistry } from "../types.ts";

/** Registries of others, which projects are caches of and replication goes to and comes from. */
export function Component() {
  const registries = useQuery({
    queryKey: ["registries"],
    queryFn: () => read<readonly OtherRegistry[]>("/registries"),
  });
  const remove = useChange<OtherRegistry>({
    request: ({ id }) => change("DELETE", `/registries/${id}`),
    failed: "The registry was not deleted",
    lists: ["registries"],
  });
  const columns = useMemo(
    (): readonly Column<OtherRegistry>[] => [
      { key: "name", header: "Name", width: "7rem", render: ({ name }) => name },
      {
        key: "url",
        header: "Address",
        render: ({ url, credential }) => (
          <Text size="sm" truncate title={url}>
            {credential === undefined ? url : `${url}, as ${credential.access_key}`}
          </Text>
        ),
      },
      { key: "state", header: "State", width: "13rem", hideBelow: "sm", render: (registry) => <State {...registry} /> },
      { key: "ping", header: "Test", width: "5rem", render: (registry) => <Ping {...registry} /> },
      deleteColumn(
        ({ name }) => `the registry ${name}`,
        async (registry) => remove(registry),
      ),
    ],
    [remove],
  );
  return (
    <Page title="Other registries" about="What projects are caches of, and where replication goes and comes from.">
      <Paper withBorder p="md" component="section" aria-label="Registries">
        <Awaited query={registries} what="Loading registries">
          {(list) =>
            list.length === 0 ? (
              <Text size="sm" c="dimmed">
                None yet. A project that is a cache of one is made with “Create project”.
              </Text>
            ) : (
              <DataTable label="Registries" rows={list} rowKey={({ id }) => String(id)} columns={columns} />
            )
          }
        </Awaited>
        <AddRegistry />
      </Paper>
    </Page>
  );
}

function State({ status, status_text: failure, rate_remaining: remaining, paused_until: paused }: OtherRegistry) {
  return (
    <Group gap={4}>
      <Badge
        variant="light"
        tt="none"
        color={paused === null && status === "healthy" ? "green" : "orange"}
        title={failure ?? undefined}
      >
        {paused === null ? (status === "healthy" ? "answers" : "does not answer") : "wants to be left alone"}
      </Badge>
      {remaining !== null && (
        <Text size="xs" c="dimmed">
          {remaining.split(";", 1)[0]} pulls left
        </Text>
      )}
    </Group>
  );
}

function Ping({ id, name }: OtherRegistry) {
  const ping = useChange<number>({
    request: async () => {
      await change("POST", `/registries/${id}/ping`);
      notifyDone(`${name} answers, and takes the login.`);
    },
    failed: `${name} does not answer as it should`,
    lists: ["registries"],
  });
  return (
    <Button size="compact-sm" variant="default" aria-label={`Test ${name}`} onClick={() => ping(id)}>
      Test
    </Button>
  );
}

function AddRegistry() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [user, setUser] = useState("");
  const [secret, setSecret] = useState("");
  const add = useMutation({
    mutationFn: () =>
      change("POST", "/registries", {
        name,
        url,
        ...(user !== "" && { credential: { type: "basic", access_key: user, access_secret: secret } }),
      }),
    onSuccess: () => {
      setName("");
      setUrl("");
      setUser("");
      setSecret("");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["registries"] }),
  });
  const isReady = name !== "" && URL.canParse(url);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      add.mutate();
    }
  };
  return (
    <form onSubmit={submit}>
      <Title order={2} size="h4" mt="md">
        Add one
      </Title>
      {add.error && <ErrorNote error={add.error} title="The registry was not added" />}
      <Group align="flex-end" mt="xs">
        <TextInput
          label="Name of the registry"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
          w={180}
        />
        <TextInput
          label="Address"
          placeholder="https://docker.io"
          type="url"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          autoComplete="off"
          miw={220}
          flex={1}
        />
        <TextInput
          label="User (optional)"
          value={user}
          onChange={(event) => setUser(event.currentTarget.value)}
          autoComplete="off"
          w={150}
        />
        <PasswordInput
          label="Password or token"
          value={secret}
          onChange={(event) => setSecret(event.currentTarget.value)}
          autoComplete="new-password"
          w={180}
        />
        <Button type="submit" variant="default" loading={add.isPending} disabled={!isReady}>
          Add the registry
        </Button>
      </Group>
    </form>
  );
}
