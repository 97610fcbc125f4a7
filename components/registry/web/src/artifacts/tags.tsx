import { ActionIcon, Badge, Button, Group, Text, TextInput } from "@mantine/core";
import { ErrorNote, formatTime, notifyDone } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { X } from "lucide-react";
import { type FormEvent, useState } from "react";

import { artifactApi, change, deleteLater } from "../api.ts";
import type { Artifact } from "../types.ts";
import type { ArtifactPlace } from "./artifact-page.tsx";

interface TagsProps {
  readonly place: ArtifactPlace;
  readonly artifact: Artifact;
  readonly rights: { readonly canPush: boolean; readonly canMaintain: boolean };
}

const TAG = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/;

/** Names of the artifact; more can be given and taken away. */
export function Tags({ place, artifact, rights }: TagsProps) {
  const { project, repository, digest } = place;
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const refresh = () => client.invalidateQueries({ queryKey: ["artifact", project, repository, digest] });
  const add = useMutation({
    mutationFn: () => change("POST", artifactApi(project, repository, digest, "/tags"), { name }),
    onSuccess: () => {
      notifyDone(`The tag ${name} is there.`);
      setName("");
    },
    onSettled: refresh,
  });
  const remove = (tag: string) => {
    setLeaving((known) => new Set([...known, tag]));
    deleteLater(artifactApi(project, repository, digest, `/tags/${encodeURIComponent(tag)}`), `The tag ${tag}`, () => {
      setLeaving((known) => new Set([...known].filter((each) => each !== tag)));
      void refresh();
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (TAG.test(name)) {
      add.mutate();
    }
  };
  const shown = artifact.tags.filter((tag) => !leaving.has(tag.name));
  return (
    <>
      <Group gap="xs" mb="sm">
        {shown.length === 0 && (
          <Text size="sm" c="dimmed">
            It has no tag; its digest names it.
          </Text>
        )}
        {shown.map((tag) => (
          <Badge
            key={tag.name}
            size="lg"
            variant="light"
            tt="none"
            title={`Pushed ${formatTime(new Date(tag.push_time))}`}
            rightSection={
              rights.canMaintain && (
                <ActionIcon
                  size="sm"
                  variant="transparent"
                  aria-label={`Delete the tag ${tag.name}`}
                  onClick={() => remove(tag.name)}
                >
                  <X size={14} aria-hidden />
                </ActionIcon>
              )
            }
          >
            {tag.name}
          </Badge>
        ))}
      </Group>
      {add.error && <ErrorNote error={add.error} title="The tag was not added" />}
      {rights.canPush && (
        <form onSubmit={submit}>
          <Group align="flex-end" gap="xs">
            <TextInput
              label="Another tag"
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              error={
                name === "" || TAG.test(name)
                  ? undefined
                  : "Up to 128 letters, digits and _ . -, not beginning with . or -."
              }
              autoComplete="off"
              spellCheck={false}
              w={220}
            />
            <Button type="submit" variant="default" loading={add.isPending} disabled={!TAG.test(name)}>
              Add
            </Button>
          </Group>
        </form>
      )}
    </>
  );
}
