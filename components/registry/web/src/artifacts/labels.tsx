import { ActionIcon, Badge, Button, Group, Select, TextInput } from "@mantine/core";
import { ErrorNote } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

import { artifactApi, change, read } from "../api.ts";
import { useProject } from "../projects/use-project.ts";
import type { Artifact, Label } from "../types.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

interface LabelsProps {
  readonly place: ArtifactPlace;
  readonly artifact: Artifact;
  readonly rights: { readonly canPush: boolean; readonly canMaintain: boolean };
}

/** Labels of the artifact: of the project, or of the whole registry. */
export function Labels({ place, artifact, rights }: LabelsProps) {
  const { project, repository, digest } = place;
  const id = useProject(project).data?.project_id;
  const client = useQueryClient();
  const [name, setName] = useState("");
  const path = artifactApi(project, repository, digest, "/labels");
  const known = useQuery({
    queryKey: ["labels", project],
    queryFn: async () => [
      ...(await read<readonly Label[]>(`/labels?scope=p&project_id=${id}`)),
      ...(await read<readonly Label[]>("/labels?scope=g")),
    ],
    enabled: id !== undefined && rights.canPush,
  });
  const refresh = async () => {
    await client.invalidateQueries({ queryKey: ["artifact", project, repository, digest] });
    await client.invalidateQueries({ queryKey: ["labels", project] });
  };
  const add = useMutation({ mutationFn: (label: number) => change("POST", path, { id: label }), onSettled: refresh });
  const remove = useMutation({
    mutationFn: (label: number) => change("DELETE", `${path}/${label}`),
    onSettled: refresh,
  });
  const create = useMutation({
    mutationFn: () => change("POST", "/labels", { name, scope: "p", project_id: id }),
    onSuccess: () => setName(""),
    onSettled: refresh,
  });
  const own = artifact.labels ?? [];
  const others = (known.data ?? []).filter((label) => !own.some((each) => each.id === label.id));
  const error = add.error ?? remove.error ?? create.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name !== "") {
      create.mutate();
    }
  };
  return (
    <>
      {error && <ErrorNote error={error} title="Not changed" />}
      <Group gap="xs">
        {own.map((label) => (
          <Badge
            key={label.id}
            size="lg"
            variant="outline"
            tt="none"
            rightSection={
              rights.canPush && (
                <ActionIcon
                  size="sm"
                  variant="transparent"
                  aria-label={`Take the label ${label.name} away`}
                  onClick={() => remove.mutate(label.id)}
                >
                  <X size={14} aria-hidden />
                </ActionIcon>
              )
            }
          >
            {label.name}
          </Badge>
        ))}
      </Group>
      {rights.canPush && (
        <Group align="flex-end" gap="xs" mt="xs">
          <Select
            label="Add a label"
            placeholder={others.length === 0 ? "There is no other" : "Choose"}
            data={others.map((label) => ({ value: String(label.id), label: label.name }))}
            value={null}
            disabled={others.length === 0}
            onChange={(value) => value !== null && add.mutate(Number(value))}
            w={220}
          />
          {rights.canMaintain && (
            <form onSubmit={submit}>
              <Group align="flex-end" gap="xs">
                <TextInput
                  label="New label of the project"
                  value={name}
                  onChange={(event) => setName(event.currentTarget.value)}
                  autoComplete="off"
                  w={200}
                />
                <Button type="submit" variant="default" loading={create.isPending} disabled={name === ""}>
                  Create
                </Button>
              </Group>
            </form>
          )}
        </Group>
      )}
    </>
  );
}
