import { Badge, Button, Group, Paper, PasswordInput, Select, Text, TextInput } from "@mantine/core";
import { Awaited, type Column, DataTable, ErrorNote, Page, deleteColumn, useChange } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";

import { change, read } from "../api.ts";

interface Scanner {
  readonly uuid: string;
  readonly name: string;
  readonly url: string;
  readonly is_default: boolean;
}

const AUTHS = [
  { value: "", label: "none" },
  { value: "Basic", label: "user:password" },
  { value: "Bearer", label: "token" },
  { value: "X-ScannerAdapter-API-Key", label: "API key" },
];

/** Scanners that speak the pluggable scanner API; none is built in. */
export function Component() {
  const scanners = useQuery({ queryKey: ["scanners"], queryFn: () => read<readonly Scanner[]>("/scanners") });
  const remove = useChange<Scanner>({
    request: ({ uuid }) => change("DELETE", `/scanners/${uuid}`),
    failed: "The scanner was not deleted",
    lists: ["scanners"],
  });
  const columns = useMemo(
    (): readonly Column<Scanner>[] => [
      {
        key: "name",
        header: "Name",
        width: "14rem",
        render: ({ name, is_default: isDefault }) => (
          <Group gap="xs">
            {name}
            {isDefault && (
              <Badge variant="light" tt="none">
                of all projects
              </Badge>
            )}
          </Group>
        ),
      },
      { key: "url", header: "Address of its adapter", render: ({ url }) => <Text size="sm">{url}</Text> },
      deleteColumn(
        ({ name }) => `the scanner ${name}`,
        async (scanner) => remove(scanner),
      ),
    ],
    [remove],
  );
  return (
    <Page
      title="Scanners"
      about="Programs that look for vulnerabilities, behind adapters of the pluggable scanner API."
    >
      <Paper withBorder p="md" component="section" aria-label="Scanners">
        <Awaited query={scanners} what="Loading scanners">
          {(list) =>
            list.length === 0 ? (
              <Text size="sm" c="dimmed">
                None is built in. Connect one, such as the adapters of Trivy or Clair.
              </Text>
            ) : (
              <DataTable label="Scanners" rows={list} rowKey={({ uuid }) => uuid} columns={columns} />
            )
          }
        </Awaited>
        <AddScanner />
      </Paper>
    </Page>
  );
}

function AddScanner() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [url, setUrl] = useState("");
  const [auth, setAuth] = useState<string | null>("");
  const [credential, setCredential] = useState("");
  const add = useMutation({
    mutationFn: () =>
      change("POST", "/scanners", { name, url, auth, ...(credential !== "" && { access_credential: credential }) }),
    onSuccess: () => {
      setName("");
      setUrl("");
      setCredential("");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["scanners"] }),
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
      {add.error && <ErrorNote error={add.error} title="The scanner was not added" />}
      <Group align="flex-end" mt="sm">
        <TextInput
          label="Name of the scanner"
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          autoComplete="off"
          w={180}
        />
        <TextInput
          label="Address"
          type="url"
          placeholder="https://"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          autoComplete="off"
          miw={220}
          flex={1}
        />
        <Select label="Login" data={AUTHS} value={auth} onChange={setAuth} allowDeselect={false} w={150} />
        <PasswordInput
          label="Credential"
          value={credential}
          onChange={(event) => setCredential(event.currentTarget.value)}
          autoComplete="new-password"
          disabled={auth === ""}
          w={180}
        />
        <Button type="submit" variant="default" loading={add.isPending} disabled={!isReady}>
          Add the scanner
        </Button>
      </Group>
    </form>
  );
}
