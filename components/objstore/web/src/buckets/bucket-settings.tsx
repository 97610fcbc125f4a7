import { Button, Group, Paper, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import {
  CopyButton,
  ErrorNote,
  formatBytes,
  formatPlural,
  formatTime,
  notifyDone,
  parseBytes,
  requestJson,
  useConfirm,
} from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useNavigate } from "react-router";

import { useSession } from "../session.ts";
import { useThisBucket } from "./bucket-page.tsx";
import { emptyBucket } from "./empty-bucket.ts";
import { type Bucket, bucketApi } from "./use-buckets.ts";
import { setVersioning } from "./versioning.ts";

/** What a bucket keeps and how much it may hold; the way to delete it. */
export function Component() {
  const bucket = useThisBucket();
  const { data: session } = useSession();
  const endpoint = session?.endpoint ?? "";
  return (
    <Stack>
      <Paper withBorder p="md">
        <Title order={2} mb="xs">
          Address
        </Title>
        <Group gap="xs">
          <code>{`${endpoint}/${bucket.name}`}</code>
          <CopyButton value={`${endpoint}/${bucket.name}`} label="Copy the address" />
        </Group>
        <Text size="sm" c="dimmed" mt="xs">
          Region {session?.region}. Made by {bucket.owner} on {formatTime(new Date(bucket.created))}.
        </Text>
      </Paper>
      <Versioning bucket={bucket} />
      <Quota key={bucket.quotaBytes} bucket={bucket} isRoot={session?.isRoot ?? false} />
      <Deletion bucket={bucket} />
    </Stack>
  );
}

function Versioning({ bucket: { name, versioning } }: { readonly bucket: Bucket }) {
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: (isOn: boolean) => setVersioning(name, isOn),
    onSuccess: async (_, isOn) => {
      notifyDone(isOn ? "Old versions are kept from now on." : "No more old versions are kept.");
      await client.invalidateQueries({ queryKey: ["buckets"] });
    },
  });
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Versions
      </Title>
      {change.error && <ErrorNote error={change.error} title="Not changed" />}
      <Switch
        label="Versioning"
        description={
          versioning === "Suspended"
            ? "Paused: versions that were kept are still there, no more are added."
            : "What is overwritten or deleted can be brought back; it counts as used until it is deleted for good."
        }
        checked={change.isPending ? change.variables : versioning === "Enabled"}
        disabled={change.isPending}
        onChange={(event) => change.mutate(event.currentTarget.checked)}
      />
    </Paper>
  );
}

function Quota({ bucket, isRoot }: { readonly bucket: Bucket; readonly isRoot: boolean }) {
  const client = useQueryClient();
  const [text, setText] = useState(bucket.quotaBytes === null ? "" : formatBytes(bucket.quotaBytes));
  const bytes = text.trim() === "" ? null : parseBytes(text);
  const change = useMutation({
    mutationFn: () => requestJson(bucketApi(bucket.name, "/quota"), { method: "PUT", body: { bytes } }),
    onSuccess: async () => {
      notifyDone(bytes === null ? "The bucket has no quota." : "The quota is set.");
      await client.invalidateQueries({ queryKey: ["buckets"] });
    },
  });
  return (
    <Paper withBorder p="md">
      <Title order={2} mb="xs">
        Quota
      </Title>
      {change.error && <ErrorNote error={change.error} title="Not changed" />}
      {isRoot ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (bytes !== undefined) {
              change.mutate();
            }
          }}
        >
          <Group align="flex-end">
            <TextInput
              label="The most that it may hold"
              description="Such as 500 MiB or 20 GiB; nothing for no limit. Old versions count."
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              error={bytes === undefined ? "This is no amount: a number and a unit, such as 20 GiB." : undefined}
              autoComplete="off"
              maw={340}
            />
            <Button type="submit" loading={change.isPending} disabled={bytes === undefined}>
              Set
            </Button>
          </Group>
        </form>
      ) : (
        <Text size="sm">
          {bucket.quotaBytes === null ? "There is no limit." : `${formatBytes(bucket.quotaBytes)}.`} Only the root user
          changes it.
        </Text>
      )}
    </Paper>
  );
}

function Deletion({ bucket: { name, objects, bytes } }: { readonly bucket: Bucket }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const confirm = useConfirm();
  const [done, setDone] = useState<number>();
  const remove = useMutation({
    mutationFn: async () => {
      await emptyBucket(name, setDone);
      await requestJson(bucketApi(name), { method: "DELETE" });
    },
    onSuccess: async () => {
      notifyDone(`The bucket ${name} is deleted.`);
      await navigate("/");
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["buckets"] }),
  });
  const send = async () => {
    const isSure = await confirm({
      title: `Delete the bucket ${name}`,
      body: `${formatPlural(objects, "object")} with all old versions (${formatBytes(bytes)}) and everything that is being uploaded are deleted for good. Programs that use the bucket stop working.`,
      action: "Delete the bucket",
      danger: true,
      ...(objects > 0 && { typed: name }),
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
      {remove.error && <ErrorNote error={remove.error} title="The bucket was not deleted" />}
      <Group>
        <Button
          color="red"
          variant="outline"
          leftSection={<Trash2 size={16} aria-hidden />}
          loading={remove.isPending}
          onClick={() => void send()}
        >
          Delete the bucket
        </Button>
        {remove.isPending && done !== undefined && (
          <Text size="sm" c="dimmed" role="status">
            {formatPlural(done, "version")} deleted …
          </Text>
        )}
      </Group>
    </Paper>
  );
}
