import { Button, Group, Paper, Text } from "@mantine/core";
import { formatBytes, formatPlural } from "@swath/ui";
import { Download, Trash2, X } from "lucide-react";

import type { Bucket } from "../buckets/use-buckets.ts";
import type { Entry } from "../s3/list.ts";
import { isReachable } from "../s3/sign.ts";
import { download } from "./download.ts";
import { useDeletion } from "./use-deletion.tsx";

interface SelectionBarProps {
  readonly bucket: Bucket;
  readonly chosen: readonly Entry[];
  readonly onDone: () => void;
}

/** What can be done with the chosen entries. */
export function SelectionBar({ bucket, chosen, onDone }: SelectionBarProps) {
  const deletion = useDeletion(bucket, onDone);
  const objects = chosen.filter(({ isFolder, key }) => !isFolder && isReachable(key));
  const folders = chosen.filter(({ isFolder }) => isFolder);
  const size = objects.reduce((sum, entry) => sum + entry.size, 0);
  return (
    <Paper withBorder px="sm" py={6} component="section" aria-label="Chosen entries">
      <Group gap="xs">
        <Text size="sm" role="status">
          {formatPlural(chosen.length, "entry", "entries")} chosen
          {objects.length > 0 && ` (${formatBytes(size)}${folders.length > 0 ? " and folders" : ""})`}
          {deletion.progress !== undefined && ` · ${formatPlural(deletion.progress, "object")} deleted …`}
        </Text>
        <Group gap="xs" ml="auto">
          {/* Browsers ask about many downloads at once; ten are few. */}
          {folders.length === 0 && objects.length <= 10 && (
            <Button
              size="xs"
              variant="default"
              leftSection={<Download size={14} aria-hidden />}
              onClick={() => objects.forEach(({ key }) => void download(bucket.name, key))}
            >
              Download
            </Button>
          )}
          <Button
            size="xs"
            color="red"
            variant="outline"
            leftSection={<Trash2 size={14} aria-hidden />}
            loading={deletion.isPending}
            onClick={() => void deletion.send(chosen)}
          >
            Delete
          </Button>
          <Button
            size="xs"
            variant="subtle"
            color="gray"
            c="inherit"
            leftSection={<X size={14} aria-hidden />}
            onClick={onDone}
          >
            Clear selection
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}
