import { Button, Group, NumberInput, Paper, Select, Text, TextInput, Title } from "@mantine/core";
import { Awaited, type Column, DataTable, ErrorNote, RequestError, deleteColumn, notifyDone } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { change, read } from "../api.ts";
import type { Project } from "../types.ts";
import { RetentionResult, type Run } from "./retention-result.tsx";

interface Rule {
  readonly template: string;
  readonly params: Readonly<Record<string, number>>;
  readonly tag_selectors: readonly {
    readonly decoration?: string;
    readonly pattern: string;
    readonly extras?: string;
  }[];
  readonly scope_selectors: {
    readonly repository: readonly { readonly decoration?: string; readonly pattern: string }[];
  };
}

interface Policy {
  readonly rules: readonly Rule[];
  readonly trigger: { readonly settings: { readonly cron: string } };
}

const TEMPLATES = [
  { value: "latestPushedK", label: "the last pushed", unit: "artifacts" },
  { value: "latestPulledN", label: "the last pulled", unit: "artifacts" },
  { value: "nDaysSinceLastPush", label: "pushed within", unit: "days" },
  { value: "nDaysSinceLastPull", label: "pulled within", unit: "days" },
  { value: "always", label: "always", unit: "" },
];
const SCHEDULES = [
  { value: "", label: "only when asked" },
  { value: "0 0 * * * *", label: "every hour" },
  { value: "0 0 0 * * *", label: "every day" },
  { value: "0 0 0 * * 0", label: "every week" },
];

/** What is kept; what no rule of its repository keeps, goes. */
export function Retention({ project }: { readonly project: Project }) {
  const { project_id: id, name } = project;
  const client = useQueryClient();
  const key = ["retention", name];
  const policy = useQuery({
    queryKey: key,
    queryFn: async (): Promise<Policy> => {
      try {
        return await read<Policy>(`/retentions/${id}`);
      } catch (error) {
        if (error instanceof RequestError && error.status === 404) {
          return { rules: [], trigger: { settings: { cron: "" } } };
        }
        throw error;
      }
    },
  });
  const save = useMutation({
    mutationFn: ({ rules, cron }: { rules: readonly Rule[]; cron: string }) =>
      change("POST", "/retentions", {
        algorithm: "or",
        scope: { level: "project", ref: id },
        trigger: { kind: "Schedule", settings: { cron } },
        rules: rules.map(({ template, params, tag_selectors, scope_selectors }) => ({
          action: "retain",
          template,
          params,
          tag_selectors,
          scope_selectors,
        })),
      }),
    onSettled: () => client.invalidateQueries({ queryKey: key }),
  });
  const run = useMutation({
    mutationFn: (isDryRun: boolean) => change<Run>("POST", `/retentions/${id}/executions`, { dry_run: isDryRun }),
    onSuccess: async (_, isDryRun) => {
      if (!isDryRun) {
        notifyDone("The policy has run.");
        await client.invalidateQueries({ queryKey: ["repositories", name] });
      }
    },
  });
  return (
    <Paper withBorder p="md" component="section" aria-label="Retention">
      <Title order={2} mb="xs">
        Retention
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        In a repository that a rule is for, what no rule keeps is deleted. Immutable tags always stay.
      </Text>
      {(save.error ?? run.error) && <ErrorNote error={save.error ?? run.error} title="Not done" />}
      <Awaited query={policy} what="Loading the policy">
        {({ rules, trigger }) => (
          <>
            {rules.length > 0 && (
              <DataTable
                label="Retention rules"
                rows={rules.map((rule, index) => ({ rule, index }))}
                rowKey={({ index }) => String(index)}
                columns={createColumns((index) =>
                  save.mutate({ rules: rules.toSpliced(index, 1), cron: trigger.settings.cron }),
                )}
              />
            )}
            <AddRule
              isBusy={save.isPending}
              onAdd={(rule) => save.mutate({ rules: [...rules, rule], cron: trigger.settings.cron })}
            />
            <Group align="flex-end" mt="sm">
              <Select
                label="Runs"
                data={SCHEDULES}
                value={trigger.settings.cron}
                allowDeselect={false}
                onChange={(cron) => save.mutate({ rules, cron: cron ?? "" })}
                w={180}
              />
              <Button
                variant="default"
                disabled={rules.length === 0}
                loading={run.isPending}
                onClick={() => run.mutate(true)}
              >
                Show what would go
              </Button>
              {run.data?.dry_run === true && run.data.deleted > 0 && (
                <Button color="red" variant="outline" loading={run.isPending} onClick={() => run.mutate(false)}>
                  Delete it now
                </Button>
              )}
            </Group>
            {run.data && <RetentionResult run={run.data} />}
          </>
        )}
      </Awaited>
    </Paper>
  );
}

interface Row {
  readonly rule: Rule;
  readonly index: number;
}

function createColumns(remove: (index: number) => void): readonly Column<Row>[] {
  return [
    { key: "keeps", header: "Keeps", render: ({ rule }) => describe(rule) },
    { key: "tags", header: "Of the tags", render: ({ rule }) => <code>{rule.tag_selectors[0]?.pattern}</code> },
    {
      key: "repositories",
      header: "In",
      render: ({ rule }) => <code>{rule.scope_selectors.repository[0]?.pattern}</code>,
    },
    deleteColumn(
      ({ rule }) => `the rule that keeps ${describe(rule)}`,
      async ({ index }) => remove(index),
    ),
  ];
}

function describe({ template, params }: Rule): string {
  const found = TEMPLATES.find(({ value }) => value === template);
  return template === "always"
    ? "always"
    : `${found?.label ?? template} ${params[template] ?? ""} ${found?.unit ?? ""}`;
}

function AddRule({ isBusy, onAdd }: { readonly isBusy: boolean; readonly onAdd: (rule: Rule) => void }) {
  const [template, setTemplate] = useState("latestPushedK");
  const [count, setCount] = useState<number | string>(10);
  const [tags, setTags] = useState("**");
  const [repositories, setRepositories] = useState("**");
  const isReady = tags !== "" && repositories !== "" && (template === "always" || typeof count === "number");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      onAdd({
        template,
        params: template === "always" ? {} : { [template]: Number(count) },
        tag_selectors: [{ decoration: "matches", pattern: tags, extras: '{"untagged":false}' }],
        scope_selectors: { repository: [{ decoration: "repoMatches", pattern: repositories }] },
      });
    }
  };
  return (
    <form onSubmit={submit}>
      <Group align="flex-end" mt="sm">
        <Select
          label="Keep"
          data={TEMPLATES.map(({ value, label }) => ({ value, label }))}
          value={template}
          allowDeselect={false}
          onChange={(value) => setTemplate(value ?? "always")}
          w={160}
        />
        {template !== "always" && (
          <NumberInput
            label={template.startsWith("nDays") ? "Days" : "How many"}
            value={count}
            onChange={setCount}
            min={0}
            max={100_000}
            allowDecimal={false}
            w={110}
          />
        )}
        <TextInput label="Of the tags" value={tags} onChange={(event) => setTags(event.currentTarget.value)} w={140} />
        <TextInput
          label="In the repositories"
          value={repositories}
          onChange={(event) => setRepositories(event.currentTarget.value)}
          w={160}
        />
        <Button type="submit" variant="default" loading={isBusy} disabled={!isReady}>
          Add the rule
        </Button>
      </Group>
    </form>
  );
}
