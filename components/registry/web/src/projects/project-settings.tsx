import { Button, Group, Paper, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { ErrorNote, formatBytes, notifyDone, parseBytes, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { change, projectApi } from "../api.ts";
import { useSession } from "../session.ts";
import type { Project } from "../types.ts";
import { toUsage } from "./project-list.tsx";
import { TrustedKeys } from "./trusted-keys.tsx";
import { useThisProject } from "./use-project.ts";

const SWITCHES = [
  { key: "public", label: "Public", about: "Everybody may pull, without a login." },
  {
    key: "allow_sparse_index",
    label: "Sparse indexes",
    about: "Image indexes may name images that are not there; pulling those fails.",
  },
  {
    key: "enable_content_trust_cosign",
    label: "Process signed artifacts only",
    about: "Images and packages are pulled for jobs only when one of the keys below has signed them (cosign).",
  },
] as const;

/** Settings of a project, its quota, and its end. */
export function Component() {
  const project = useThisProject();
  const { data: session } = useSession();
  const { limit } = toUsage(project.quota);
  return (
    <Stack>
      <Metadata project={project} />
      <TrustedKeys project={project.name} />
      <Quota key={limit} project={project} limit={limit} isAdmin={session?.isAdmin ?? false} />
      <Deletion project={project} />
    </Stack>
  );
}

function Metadata({ project: { name, metadata } }: { readonly project: Project }) {
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (changed: Readonly<Record<string, string>>) => change("PUT", projectApi(name), { metadata: changed }),
    onSuccess: () => notifyDone("The project is changed."),
    onSettled: () => client.invalidateQueries({ queryKey: ["project", name] }),
  });
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Access
      </Title>
      {save.error && <ErrorNote error={save.error} title="Not changed" />}
      <Stack>
        {SWITCHES.map(({ key, label, about }) => (
          <Switch
            key={key}
            label={label}
            description={about}
            checked={
              (save.isPending ? save.variables[key] : undefined) === undefined
                ? metadata[key] === "true"
                : save.variables?.[key] === "true"
            }
            disabled={save.isPending}
            onChange={(event) => save.mutate({ [key]: String(event.currentTarget.checked) })}
          />
        ))}
      </Stack>
    </Paper>
  );
}

interface QuotaProps {
  readonly project: Project;
  readonly limit: number | null;
  readonly isAdmin: boolean;
}

function Quota({ project, limit, isAdmin }: QuotaProps) {
  const client = useQueryClient();
  const [text, setText] = useState(limit === null ? "" : formatBytes(limit));
  const bytes = text.trim() === "" ? -1 : parseBytes(text);
  const save = useMutation({
    mutationFn: () => change("PUT", `/quotas/${project.project_id}`, { hard: { storage: bytes } }),
    onSuccess: async () => {
      notifyDone(bytes === -1 ? "The project has no quota." : "The quota is set.");
      await client.invalidateQueries({ queryKey: ["project", project.name] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (bytes !== undefined) {
      save.mutate();
    }
  };
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Quota
      </Title>
      {save.error && <ErrorNote error={save.error} title="Not changed" />}
      {isAdmin ? (
        <form onSubmit={submit}>
          <Group align="flex-end">
            <TextInput
              label="The most that it may hold"
              description="Such as 500 MiB or 20 GiB; nothing for no limit. Content counts once, however many images have it."
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              error={bytes === undefined ? "This is no amount: a number and a unit, such as 20 GiB." : undefined}
              autoComplete="off"
              maw={340}
            />
            <Button type="submit" loading={save.isPending} disabled={bytes === undefined}>
              Set
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm">
          {limit === null ? "There is no limit." : `${formatBytes(limit)}.`} Only an administrator of the registry
          changes it.
        </Text>
      )}
    </Paper>
  );
}

function Deletion({ project: { name, repo_count: count } }: { readonly project: Project }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const confirm = useConfirm();
  const remove = useMutation({
    mutationFn: () => change("DELETE", projectApi(name)),
    onSuccess: async () => {
      notifyDone(`The project ${name} is deleted.`);
      await navigate("/");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["projects"] }),
  });
  const send = async () => {
    const isSure = await confirm({
      title: `Delete the project ${name}`,
      body: "Its members, robots and rules are deleted for good. It must have no repositories any more.",
      action: "Delete the project",
      danger: true,
    });
    if (isSure) {
      remove.mutate();
    }
  };
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Delete
      </Title>
      {remove.error && <ErrorNote error={remove.error} title="The project was not deleted" />}
      <Group>
        <Button
          color="red"
          variant="outline"
          leftSection={<Trash2 size={16} aria-hidden />}
          loading={remove.isPending}
          disabled={count > 0}
          onClick={() => void send()}
        >
          Delete the project
        </Button>
        {count > 0 && (
          <Text size="sm" c="dimmed">
            Delete its repositories first.
          </Text>
        )}
      </Group>
    </Paper>
  );
}
