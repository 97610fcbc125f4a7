import { Button, Group, Paper, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { EditDialog, notifyDone } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { change, read, repositoryApi } from "../api.ts";
import type { Repository } from "../types.ts";

interface DescriptionProps {
  readonly project: string;
  readonly repository: string;
  readonly canChange: boolean;
}

/** What a repository is for, in the words of who pushes there. */
export function Description({ project, repository, canChange }: DescriptionProps) {
  const client = useQueryClient();
  const key = ["repository", project, repository];
  const known = useQuery({ queryKey: key, queryFn: () => read<Repository>(repositoryApi(project, repository)) });
  const [opened, { open, close }] = useDisclosure(false);
  const [text, setText] = useState("");
  const save = useMutation({
    mutationFn: () => change("PUT", repositoryApi(project, repository), { description: text }),
    onSuccess: async () => {
      notifyDone("The description is saved.");
      await client.invalidateQueries({ queryKey: key });
      close();
    },
  });
  const description = known.data?.description ?? "";
  const edit = () => {
    setText(description);
    open();
  };
  if (description === "" && !canChange) {
    return null;
  }
  return (
    <Paper withBorder p="md">
      <Stack gap="xs" align="flex-start">
        <Text
          size="sm"
          style={{ whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}
          c={description === "" ? "dimmed" : undefined}
        >
          {description === "" ? "No description yet." : description}
        </Text>
        {canChange && (
          <Group>
            <Button size="xs" variant="default" onClick={edit}>
              Edit the description
            </Button>
          </Group>
        )}
      </Stack>
      <EditDialog
        opened={opened}
        onClose={close}
        title="Description"
        save={{ mutate: () => save.mutate(), error: save.error, isPending: save.isPending }}
        isReady={true}
      >
        <Textarea
          label="What this repository is for"
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          autosize
          minRows={4}
          maxRows={16}
          maxLength={65_536}
          data-autofocus
        />
      </EditDialog>
    </Paper>
  );
}
