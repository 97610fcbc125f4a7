import { ActionIcon, Button, Group, Paper, Progress, Stack, Text } from "@mantine/core";
import { formatBytes } from "@swath/ui";
import { Check, X } from "lucide-react";

import type { Upload, Uploads } from "./use-uploads.ts";

/** Files on their way. */
export function UploadList({ uploads: { list, cancel, clear } }: { readonly uploads: Uploads }) {
  if (list.length === 0) {
    return null;
  }
  const done = list.filter(({ state }) => state === "done").length;
  const hasEnded = list.some(({ state }) => state === "done" || state === "failed");
  return (
    <Paper withBorder p="md" component="section" aria-label="Uploads">
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={600} role="status">
            {done} of {list.length} uploaded
          </Text>
          {hasEnded && (
            <Button size="xs" variant="subtle" onClick={clear}>
              Clear
            </Button>
          )}
        </Group>
        {list.map((upload) => (
          <UploadLine key={upload.id} upload={upload} onCancel={() => cancel(upload.id)} />
        ))}
      </Stack>
    </Paper>
  );
}

function UploadLine({ upload, onCancel }: { readonly upload: Upload; readonly onCancel: () => void }) {
  const { name, size, share, state, error } = upload;
  const isOpen = state === "waiting" || state === "sending";
  return (
    <div>
      <Group justify="space-between" wrap="nowrap" gap="sm">
        <Text size="sm" truncate>
          {name}
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" c="dimmed" style={{ whiteSpace: "nowrap" }}>
            {formatBytes(size)}
          </Text>
          {state === "done" && <Check size={16} color="var(--mantine-color-green-filled)" aria-label="done" />}
          {isOpen && (
            <ActionIcon variant="subtle" color="gray" size="sm" onClick={onCancel} aria-label={`Cancel ${name}`}>
              <X size={14} aria-hidden />
            </ActionIcon>
          )}
        </Group>
      </Group>
      {isOpen && <Progress value={share * 100} size="sm" aria-label={`Upload of ${name}`} />}
      {state === "failed" && (
        <Text size="sm" c="red" role="alert">
          {error instanceof Error ? error.message : String(error)}
        </Text>
      )}
    </div>
  );
}
