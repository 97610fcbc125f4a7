import { ActionIcon, Button, Collapse, Group, Paper, Progress, ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { formatBytes, formatDuration, formatPlural } from "@swath/ui";
import { ChevronDown, ChevronUp, RotateCw, X } from "lucide-react";

import type { QueueState, Upload } from "./queue.ts";
import classes from "./upload-panel.module.css";
import { useUploadQueue, useUploads } from "./uploads-context.tsx";

/** More lines than this nobody reads; failed and running ones come first. */
const LINES = 100;
const ORDER: readonly Upload["state"][] = ["failed", "sending", "waiting", "stopped", "done"];

/** The uploads of this window, at its lower edge. */
export function UploadPanel() {
  const state = useUploads();
  const queue = useUploadQueue();
  const [isOpen, { toggle }] = useDisclosure(true);
  if (state.uploads.length === 0) {
    return null;
  }
  const lines = state.uploads.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state)).slice(0, LINES);
  return (
    <Paper withBorder shadow="md" p="sm" className={classes.panel} component="section" aria-label="Uploads">
      <Group justify="space-between" wrap="nowrap" gap="xs">
        <Text size="sm" fw={600} role="status">
          {describe(state)}
        </Text>
        <Group gap={4} wrap="nowrap">
          {state.active > 0 ? (
            <Button size="compact-xs" variant="default" onClick={() => queue.stopAll()}>
              Cancel all
            </Button>
          ) : (
            <Button size="compact-xs" variant="default" onClick={() => queue.clear()}>
              Close
            </Button>
          )}
          <ActionIcon
            variant="subtle"
            color="gray"
            c="inherit"
            onClick={toggle}
            aria-expanded={isOpen}
            aria-label="Details of uploads"
          >
            {isOpen ? <ChevronDown size={16} aria-hidden /> : <ChevronUp size={16} aria-hidden />}
          </ActionIcon>
        </Group>
      </Group>
      <Progress mt="xs" size="sm" value={percent(state.sent, state.size)} aria-label="All uploads" />
      {state.active > 0 && (
        <Text size="xs" c="dimmed" mt={4}>
          {formatBytes(state.sent)} of {formatBytes(state.size)}
          {state.speed > 0 &&
            ` · ${formatBytes(state.speed)}/s · ${formatDuration((state.size - state.sent) / state.speed)} left`}
        </Text>
      )}
      <Collapse expanded={isOpen}>
        <ScrollArea.Autosize
          mah={240}
          mt="xs"
          viewportProps={{ tabIndex: 0, role: "region", "aria-label": "Uploads one by one" }}
        >
          <Stack gap={6}>
            {lines.map((upload) => (
              <Line key={upload.id} upload={upload} />
            ))}
            {state.uploads.length > LINES && (
              <Text size="xs" c="dimmed">
                and {formatPlural(state.uploads.length - LINES, "more file")}
              </Text>
            )}
          </Stack>
        </ScrollArea.Autosize>
      </Collapse>
    </Paper>
  );
}

function Line({ upload: { id, key, size, sent, state, error } }: { readonly upload: Upload }) {
  const queue = useUploadQueue();
  const name = key.slice(key.lastIndexOf("/") + 1);
  const isOpen = state === "waiting" || state === "sending";
  return (
    <div>
      <Group wrap="nowrap" gap="xs" justify="space-between">
        <Text size="xs" truncate title={key}>
          {name}
        </Text>
        <Group wrap="nowrap" gap={2}>
          <Text size="xs" c={state === "failed" ? "red" : "dimmed"} style={{ whiteSpace: "nowrap" }}>
            {LABELS[state] ?? `${Math.floor(percent(sent, size))} %`}
          </Text>
          {isOpen && (
            <ActionIcon
              size="xs"
              variant="subtle"
              color="gray"
              c="inherit"
              onClick={() => queue.stop(id)}
              aria-label={`Stop ${name}`}
            >
              <X size={12} aria-hidden />
            </ActionIcon>
          )}
          {(state === "failed" || state === "stopped") && (
            <Tooltip label="Try again">
              <ActionIcon
                size="xs"
                variant="subtle"
                color="gray"
                c="inherit"
                onClick={() => queue.retry(id)}
                aria-label={`Send ${name} again`}
              >
                <RotateCw size={12} aria-hidden />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Group>
      {state === "failed" && (
        <Text size="xs" c="red">
          {error instanceof Error ? error.message : String(error)}
        </Text>
      )}
    </div>
  );
}

const LABELS: Readonly<Partial<Record<Upload["state"], string>>> = {
  waiting: "waiting",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};

function describe({ uploads, active }: QueueState): string {
  const failed = uploads.filter(({ state }) => state === "failed").length;
  if (active > 0) {
    return `Uploading ${formatPlural(active, "file")}`;
  }
  const done = uploads.filter(({ state }) => state === "done").length;
  return failed > 0 ? `${formatPlural(failed, "upload")} failed` : `${formatPlural(done, "file")} uploaded`;
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 100 : (part / whole) * 100;
}
