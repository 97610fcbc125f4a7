import { Button, Group, Paper, Text, TextInput, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, ErrorNote, deleteColumn, useChange } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";

import { change, projectApi, read } from "../api.ts";

interface Selector {
  readonly pattern: string;
}

interface ImmutableRule {
  readonly id: number;
  readonly disabled: boolean;
  readonly tag_selectors: readonly Selector[];
  readonly scope_selectors: { readonly repository: readonly Selector[] };
}

/** Tags that may be neither moved nor deleted. */
export function ImmutableRules({ project }: { readonly project: string }) {
  const client = useQueryClient();
  const path = projectApi(project, "/immutabletagrules");
  const rules = useQuery({ queryKey: ["immutable", project], queryFn: () => read<readonly ImmutableRule[]>(path) });
  const [repositories, setRepositories] = useState("**");
  const [tags, setTags] = useState("");
  const add = useMutation({
    mutationFn: () =>
      change("POST", path, {
        tag_selectors: [{ kind: "doublestar", decoration: "matches", pattern: tags }],
        scope_selectors: { repository: [{ kind: "doublestar", decoration: "repoMatches", pattern: repositories }] },
      }),
    onSuccess: () => setTags(""),
    onSettled: () => client.invalidateQueries({ queryKey: ["immutable", project] }),
  });
  const remove = useChange<ImmutableRule>({
    request: ({ id }) => change("DELETE", `${path}/${id}`),
    failed: "The rule was not deleted",
    lists: ["immutable"],
  });
  const columns = useMemo(
    (): readonly Column<ImmutableRule>[] => [
      { key: "tags", header: "Tags", render: ({ tag_selectors: [first] }) => <code>{first?.pattern}</code> },
      {
        key: "repositories",
        header: "Repositories",
        render: ({ scope_selectors: { repository } }) => <code>{repository[0]?.pattern}</code>,
      },
      deleteColumn(
        ({ tag_selectors: [first] }) => `the rule for ${first?.pattern ?? ""}`,
        async (rule) => remove(rule),
      ),
    ],
    [remove],
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (tags !== "") {
      add.mutate();
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="Immutable tags">
      <Title order={2} mb="xs">
        Immutable tags
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Tags that fit a pattern may be neither moved to another image nor deleted. In patterns, * is any text without a
        slash, ** any text, ? one character, {"{a,b}"} one of several.
      </Text>
      <Awaited query={rules} what="Loading rules">
        {(list) =>
          list.length > 0 && (
            <DataTable label="Immutable tags" rows={list} rowKey={({ id }) => String(id)} columns={columns} />
          )
        }
      </Awaited>
      {add.error && <ErrorNote error={add.error} title="The rule was not added" />}
      <form onSubmit={submit}>
        <Group align="flex-end" mt="sm">
          <TextInput
            label="Tags"
            placeholder="v*"
            value={tags}
            onChange={(event) => setTags(event.currentTarget.value)}
            w={160}
          />
          <TextInput
            label="Repositories"
            value={repositories}
            onChange={(event) => setRepositories(event.currentTarget.value)}
            w={160}
          />
          <Button type="submit" variant="default" loading={add.isPending} disabled={tags === "" || repositories === ""}>
            Add
          </Button>
        </Group>
      </form>
    </Paper>
  );
}
