import { Button, Code, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { ErrorNote, Page } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { Link, useNavigate } from "react-router";

import { createWorkspace } from "../api/workspaces.ts";
import { usePortal } from "../session/portal.ts";

/** Creates a workspace: for oneself, or for anybody when an administrator does it. */
export function Component() {
  const { user } = usePortal();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState(user.username);
  const [owner, setOwner] = useState(user.username);
  const create = useMutation({
    mutationFn: () => createWorkspace(name.trim(), owner.trim()),
    onSuccess: async (made) => {
      await client.invalidateQueries({ queryKey: ["workspaces"] });
      await navigate(`/workspaces/${made}/files`, { state: { isNew: true } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    create.mutate();
  };
  return (
    <Page title="Create workspace" about="It is ready in a few seconds, with storage and keys of its own">
      <Paper withBorder p="lg" maw={560}>
        <form onSubmit={submit}>
          <Stack>
            {create.error && <ErrorNote error={create.error} title="The workspace was not created" />}
            <TextInput
              label="Name"
              description={
                <>
                  It will be called <Code>ws-{toSlug(name)}</Code>; buckets and addresses carry this name
                </>
              }
              value={name}
              onChange={(event) => setName(event.currentTarget.value)}
              maxLength={100}
              required
              autoComplete="off"
            />
            {user.isAdmin && (
              <TextInput
                label="Owner"
                description="User name or id; the workspace belongs to this user"
                value={owner}
                onChange={(event) => setOwner(event.currentTarget.value)}
                maxLength={255}
                required
                autoComplete="off"
                spellCheck={false}
              />
            )}
            {!user.isAdmin && (
              <Text size="sm" c="dimmed">
                It belongs to you, {user.username}. You can let others in later.
              </Text>
            )}
            <Group justify="flex-end">
              <Button component={Link} to="/workspaces" variant="default">
                Cancel
              </Button>
              <Button type="submit" loading={create.isPending}>
                Create
              </Button>
            </Group>
          </Stack>
        </form>
      </Paper>
    </Page>
  );
}

/** About what the service makes of a name; what it says itself counts. */
function toSlug(name: string): string {
  const slug = name
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 32);
  return slug === "" ? "…" : slug;
}
