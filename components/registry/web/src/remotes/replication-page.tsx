import { Button, Group, Paper, Progress, Select, Stack, Text, TextInput, Title } from "@mantine/core";
import { Awaited, ErrorNote, Page, RelativeTime, formatBytes, notifyDone, useConfirm } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { change, read } from "../api.ts";
import type { OtherRegistry, ReplicationPolicy, ReplicationRun } from "../types.ts";

const POLICIES = "/replication/policies";
const RUNS = "/replication/executions";
const LOOK_MS = 2000;
const SCHEDULES = [
  { value: "", label: "by hand" },
  { value: "0 0 * * * *", label: "hourly" },
  { value: "0 0 0 * * *", label: "daily" },
  { value: "0 0 0 * * 0", label: "weekly" },
];

/** What is copied from and to other registries, and how far it is. */
export function Component() {
  const policies = useQuery({
    queryKey: ["replications"],
    queryFn: () => read<readonly ReplicationPolicy[]>(POLICIES),
  });
  const registries = useQuery({
    queryKey: ["registries"],
    queryFn: () => read<readonly OtherRegistry[]>("/registries"),
  });
  return (
    <Page title="Replication" about="Copies of images from and to other registries.">
      <Awaited query={registries} what="Loading registries">
        {(others) => (
          <Awaited query={policies} what="Loading replications">
            {(list) => (
              <Stack>
                {list.map((policy) => (
                  <Policy key={policy.id} policy={policy} others={others} />
                ))}
                <AddPolicy others={others} />
              </Stack>
            )}
          </Awaited>
        )}
      </Awaited>
    </Page>
  );
}

interface PolicyProps {
  readonly policy: ReplicationPolicy;
  readonly others: readonly OtherRegistry[];
}

function Policy({ policy, others }: PolicyProps) {
  const { id, name, src_registry: source, dest_registry: target, filters, trigger } = policy;
  const client = useQueryClient();
  const confirm = useConfirm();
  const runs = useQuery({
    queryKey: ["replication runs", id],
    queryFn: () => read<readonly ReplicationRun[]>(`${RUNS}?policy_id=${id}`),
    refetchInterval: ({ state }) => (state.data?.[0]?.end_time === null ? LOOK_MS : false),
  });
  const start = useMutation({
    mutationFn: () => change("POST", RUNS, { policy_id: id }),
    onSettled: () => client.invalidateQueries({ queryKey: ["replication runs", id] }),
  });
  const remove = useMutation({
    mutationFn: () => change("DELETE", `${POLICIES}/${id}`),
    onSuccess: () => notifyDone(`The replication ${name} is deleted.`),
    onSettled: () => client.invalidateQueries({ queryKey: ["replications"] }),
  });
  const callRemove = async () => {
    const body = "What it has copied stays. Its runs are forgotten.";
    if (await confirm({ title: `Delete the replication ${name}`, body, action: "Delete", danger: true })) {
      remove.mutate();
    }
  };
  const other = others.find(({ id: of }) => of === (source ?? target)?.id)?.name ?? "";
  const [repositories, tags] = ["name", "tag"].map((type) => filters.find((each) => each.type === type)?.value ?? "**");
  const when = SCHEDULES.find(({ value }) => value === trigger.trigger_settings.cron)?.label ?? "";
  const there = policy.dest_namespace === "" ? "the same names" : policy.dest_namespace;
  return (
    <Paper withBorder p="md" component="section" aria-label={name}>
      <Group justify="space-between">
        <Title order={2} size="h4">
          {name}
        </Title>
        <Group gap="xs">
          <Button size="compact-sm" variant="default" loading={start.isPending} onClick={() => start.mutate()}>
            Run now
          </Button>
          <Button size="compact-sm" variant="outline" color="red" onClick={() => void callRemove()}>
            Delete
          </Button>
        </Group>
      </Group>
      <Text size="sm" c="dimmed" style={{ overflowWrap: "anywhere" }}>
        {source === null
          ? `${repositories}:${tags} to ${other}, as ${there}`
          : `${repositories}:${tags} of ${other} into ${policy.dest_namespace}`}
        , {when}
      </Text>
      {(start.error ?? remove.error) && <ErrorNote error={start.error ?? remove.error} title="Not done" />}
      <Awaited query={runs} what="Loading runs">
        {(list) => list.slice(0, 3).map((run) => <Run key={run.id} run={run} name={name} />)}
      </Awaited>
    </Paper>
  );
}

function Run({ run, name }: { readonly run: ReplicationRun; readonly name: string }) {
  const { total, succeed, failed, status, bytes } = run;
  const done = succeed + failed;
  const words = { InProgress: "under way", Succeed: "done", Failed: "failed", Stopped: "stopped" }[status];
  return (
    <div>
      <Text size="sm" mt="xs" role="status">
        <RelativeTime time={run.start_time} />: {words}, {done} of {total} tags, {formatBytes(bytes)}
        {failed > 0 && `, ${failed} failed`}
        {run.status_text !== "" && `: ${run.status_text}`}
      </Text>
      <Progress.Root size="sm" mt={4}>
        <Progress.Section
          value={total === 0 ? (run.end_time === null ? 0 : 100) : (succeed / total) * 100}
          color={status === "Failed" ? "orange" : "green"}
          aria-label={`Progress of ${name}`}
        />
        {failed > 0 && <Progress.Section value={(failed / total) * 100} color="red" aria-label={`Failed of ${name}`} />}
      </Progress.Root>
    </div>
  );
}

function AddPolicy({ others }: { readonly others: readonly OtherRegistry[] }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [direction, setDirection] = useState<string | null>("pull");
  const [registry, setRegistry] = useState<string | null>(null);
  const [repositories, setRepositories] = useState("");
  const [tags, setTags] = useState("**");
  const [place, setPlace] = useState("");
  const [cron, setCron] = useState<string | null>("");
  const isPull = direction === "pull";
  const add = useMutation({
    mutationFn: () =>
      change("POST", POLICIES, {
        name,
        [isPull ? "src_registry" : "dest_registry"]: { id: Number(registry) },
        dest_namespace: place,
        override: true,
        filters: [
          { type: "name", value: repositories },
          { type: "tag", value: tags },
        ],
        trigger: cron === "" ? { type: "manual" } : { type: "scheduled", trigger_settings: { cron } },
      }),
    onSuccess: () => setName(""),
    onSettled: () => client.invalidateQueries({ queryKey: ["replications"] }),
  });
  const isReady = name !== "" && registry !== null && repositories !== "" && tags !== "" && (!isPull || place !== "");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isReady) {
      add.mutate();
    }
  };
  if (others.length === 0) {
    return <Text size="sm">Add another registry first, under “Other registries”.</Text>;
  }
  return (
    <Paper withBorder p="md" component="section" aria-label="Add a replication">
      <Title order={2} size="h4">
        Add a replication
      </Title>
      {add.error && <ErrorNote error={add.error} title="The replication was not added" />}
      <form onSubmit={submit}>
        <Group align="flex-end" mt="xs">
          <TextInput
            label="Name of the replication"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            autoComplete="off"
            w={200}
          />
          <Select
            label="Direction"
            data={[
              { value: "pull", label: "from there" },
              { value: "push", label: "to there" },
            ]}
            value={direction}
            onChange={setDirection}
            allowDeselect={false}
            w={140}
          />
          <Select
            label="Registry"
            data={others.map(({ id, name: label }) => ({ value: String(id), label }))}
            value={registry}
            onChange={setRegistry}
            w={180}
          />
          <TextInput
            label="Repositories"
            placeholder={isPull ? "library/alpine" : "project/**"}
            value={repositories}
            onChange={(event) => setRepositories(event.currentTarget.value)}
            w={180}
          />
          <TextInput label="Tags" value={tags} onChange={(event) => setTags(event.currentTarget.value)} w={110} />
          <TextInput
            label={isPull ? "Into the project" : "Namespace there"}
            value={place}
            onChange={(event) => setPlace(event.currentTarget.value)}
            w={160}
          />
          <Select label="When" data={SCHEDULES} value={cron} onChange={setCron} allowDeselect={false} w={120} />
          <Button type="submit" variant="default" loading={add.isPending} disabled={!isReady}>
            Add the replication
          </Button>
        </Group>
      </form>
    </Paper>
  );
}
