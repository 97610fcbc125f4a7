import { Button, Group, Paper, Textarea, Title } from "@mantine/core";
import { Awaited, ErrorNote, notifyDone } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import { change, projectApi, read } from "../api.ts";

const END = "-----END PUBLIC KEY-----";

/** Public keys whose signatures the project trusts. */
export function TrustedKeys({ project }: { readonly project: string }) {
  const path = projectApi(project, "/trusted-keys");
  const known = useQuery({
    queryKey: ["trusted-keys", project],
    queryFn: () => read<{ readonly keys: readonly string[] }>(path),
  });
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Trusted keys
      </Title>
      <Awaited query={known} what="Loading the keys">
        {({ keys }) => <KeysForm key={keys.join()} project={project} path={path} keys={keys} />}
      </Awaited>
    </Paper>
  );
}

interface FormProps {
  readonly project: string;
  readonly path: string;
  readonly keys: readonly string[];
}

function KeysForm({ project, path, keys }: FormProps) {
  const client = useQueryClient();
  const [text, setText] = useState(keys.join("\n"));
  const save = useMutation({
    mutationFn: () => change("PUT", path, { keys: splitKeys(text) }),
    onSuccess: async () => {
      notifyDone("The keys are saved.");
      await client.invalidateQueries({ queryKey: ["trusted-keys", project] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit}>
      {save.error && <ErrorNote error={save.error} title="Not saved" />}
      <Textarea
        label="Public keys"
        description="In PEM, one after the other, as cosign.pub has them."
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        autosize
        minRows={3}
        maxRows={14}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
      />
      <Group mt="sm">
        <Button type="submit" variant="default" loading={save.isPending}>
          Save the keys
        </Button>
      </Group>
    </form>
  );
}

/** Each key with its last line; what comes behind is a key too, and the service says what is wrong with it. */
function splitKeys(text: string): readonly string[] {
  return text
    .split(END)
    .map((part, index, parts) => (index < parts.length - 1 ? `${part.trim()}\n${END}` : part.trim()))
    .filter((part) => part !== "");
}
