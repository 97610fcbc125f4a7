import { Button, Group, NumberInput, Paper, Stack, Text, Title } from "@mantine/core";
import { ErrorNote, notifyDone, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useNavigate } from "react-router";

import { type Workspace, changeWorkspace, deleteWorkspace, rotateKeys } from "../api/workspaces.ts";
import { usePortal } from "../session/portal.ts";

/** Quota, keys, and the end of a workspace. */
export function WorkspaceSettings({ workspace }: { readonly workspace: Workspace }) {
  const { user } = usePortal();
  const isOwner = workspace.role === "owner";
  return (
    <Stack gap="lg" maw={640}>
      {user.isAdmin && <Quota workspace={workspace} />}
      {isOwner ? (
        <>
          <Keys workspace={workspace} />
          <Deletion workspace={workspace} />
        </>
      ) : (
        <Text>Only {workspace.owner} and administrators change the settings of this workspace.</Text>
      )}
    </Stack>
  );
}

function Quota({ workspace: { name, storage } }: { readonly workspace: Workspace }) {
  const client = useQueryClient();
  const [megabytes, setMegabytes] = useState<number | string>(storage?.quota_in_mb ?? "");
  const change = useMutation({
    mutationFn: (quota: number | null) => changeWorkspace(name, { storage: { quota_in_mb: quota } }),
    onSuccess: async () => {
      notifyDone("The quota is changed.");
      await client.invalidateQueries({ queryKey: ["workspace", name] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate(megabytes === "" ? null : Number(megabytes));
  };
  return (
    <Paper withBorder p="lg">
      <Title order={2} mb="sm">
        Quota
      </Title>
      {change.error && <ErrorNote error={change.error} title="The quota was not changed" />}
      <form onSubmit={submit}>
        <Group align="flex-end">
          <NumberInput
            label="Storage in MiB"
            description={`Empty: what the deployment gives everybody${storage?.usage?.quota_in_mb === undefined ? "" : ` (now in force: ${storage.usage.quota_in_mb})`}`}
            value={megabytes}
            onChange={setMegabytes}
            min={1}
            max={1_000_000_000}
            allowDecimal={false}
            style={{ flex: 1 }}
          />
          <Button type="submit" loading={change.isPending}>
            Save
          </Button>
        </Group>
      </form>
    </Paper>
  );
}

function Keys({ workspace: { name } }: { readonly workspace: Workspace }) {
  const confirm = useConfirm();
  const client = useQueryClient();
  const rotate = useMutation({
    mutationFn: () => rotateKeys(name),
    onSuccess: async () => {
      notifyDone("The keys are being replaced; the old ones end in a moment.");
      await client.invalidateQueries({ queryKey: ["workspace", name] });
    },
  });
  const send = async () => {
    const yes = await confirm({
      title: "Replace the keys?",
      body: "Programs that use the present keys stop working until they get the new ones.",
      action: "Replace keys",
    });
    if (yes) {
      rotate.mutate();
    }
  };
  return (
    <Paper withBorder p="lg">
      <Title order={2} mb="sm">
        Storage keys
      </Title>
      {rotate.error && <ErrorNote error={rotate.error} title="The keys were not replaced" />}
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">When somebody saw them who should not have: the old ones end.</Text>
        <Button variant="default" onClick={() => void send()} loading={rotate.isPending} style={{ flexShrink: 0 }}>
          Replace keys
        </Button>
      </Group>
    </Paper>
  );
}

function Deletion({ workspace: { name } }: { readonly workspace: Workspace }) {
  const confirm = useConfirm();
  const client = useQueryClient();
  const navigate = useNavigate();
  const remove = useMutation({
    mutationFn: (data: "keep" | "purge") => deleteWorkspace(name, data),
    onSuccess: async () => {
      notifyDone(`${name} is being deleted.`);
      await client.invalidateQueries({ queryKey: ["workspaces"] });
      await navigate("/workspaces");
    },
  });
  const send = async (data: "keep" | "purge") => {
    const yes = await confirm({
      title: data === "keep" ? `Close ${name}?` : `Delete ${name} and its files?`,
      body:
        data === "keep"
          ? "Access keys are revoked and members lose access. Files are kept; creating a workspace of this name again opens it."
          : "All files are deleted. This cannot be undone.",
      action: data === "keep" ? "Close workspace" : "Delete everything",
      danger: data === "purge",
      ...(data === "purge" && { typed: name }),
    });
    if (yes) {
      remove.mutate(data);
    }
  };
  return (
    <Paper withBorder p="lg">
      <Title order={2} mb="sm">
        Close or delete
      </Title>
      <Stack>
        {remove.error && <ErrorNote error={remove.error} title="The workspace was not deleted" />}
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm">Close it and keep its files.</Text>
          <Button
            variant="default"
            onClick={() => void send("keep")}
            loading={remove.isPending}
            style={{ flexShrink: 0 }}
          >
            Close workspace
          </Button>
        </Group>
        <Group justify="space-between" wrap="nowrap">
          <Text size="sm">Delete it with everything in it.</Text>
          <Button
            color="red"
            variant="light"
            onClick={() => void send("purge")}
            loading={remove.isPending}
            style={{ flexShrink: 0 }}
          >
            Delete everything
          </Button>
        </Group>
      </Stack>
    </Paper>
  );
}
