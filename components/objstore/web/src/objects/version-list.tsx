import { ActionIcon, Anchor, Badge, Group, Paper, Stack, Text, Title, Tooltip } from "@mantine/core";
import { Awaited, RelativeTime, formatBytes, formatTime, notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Download, RotateCcw, Trash2 } from "lucide-react";
import { Link } from "react-router";

import { toObject } from "../paths.ts";
import { type Version, listVersions } from "../s3/list.ts";
import { removeAll } from "../s3/remove.ts";
import { restoreVersion } from "../s3/restore-version.ts";
import { download } from "./download.ts";

interface VersionListProps {
  readonly bucket: string;
  readonly objectKey: string;
  /** The version that is looked at; the newest when left out. */
  readonly shown: string | undefined;
}

/** What is kept of an object: look at it, save it, bring it back, delete it for good. */
export function VersionList({ bucket, objectKey: key, shown }: VersionListProps) {
  const client = useQueryClient();
  const confirm = useConfirm();
  const versions = useQuery({
    queryKey: ["object", bucket, key, "versions"],
    queryFn: () => listVersions(bucket, key),
  });
  const refresh = async () => {
    await Promise.all([
      client.invalidateQueries({ queryKey: ["object", bucket, key] }),
      client.invalidateQueries({ queryKey: ["objects", bucket] }),
      client.invalidateQueries({ queryKey: ["buckets"] }),
    ]);
  };
  const restore = useMutation({
    mutationFn: (version: Version) => restoreVersion(bucket, key, version),
    onSuccess: () => notifyDone("The version is the newest again."),
    onError: (error) => notifyFailed("The version was not brought back", error),
    onSettled: refresh,
  });
  const remove = useMutation({
    mutationFn: (version: Version) => removeAll(bucket, [{ key, version: version.id }]),
    onSuccess: () => notifyDone("The version is deleted."),
    onError: (error) => notifyFailed("The version was not deleted", error),
    onSettled: refresh,
  });
  const callRemove = async (version: Version) => {
    const what = version.isDeletion ? "mark of deletion" : "version";
    const isSure = await confirm({
      title: `Delete this ${what} for good?`,
      body: `Of ${formatTime(new Date(version.modified))}${version.isDeletion ? "; the object is there again without it" : `, ${formatBytes(version.size)}`}. This cannot be undone.`,
      action: "Delete for good",
      danger: true,
    });
    if (isSure) {
      remove.mutate(version);
    }
  };
  return (
    <Paper withBorder p="md" component="section" aria-label="Versions">
      <Title order={2} mb="xs">
        Versions
      </Title>
      <Awaited query={versions} what="Loading versions">
        {(list) => (
          <Stack gap="xs">
            {list.length === 0 && <Text size="sm">None are kept.</Text>}
            {list.map((version) => {
              const when = formatTime(new Date(version.modified));
              const isShown = shown === version.id || (shown === undefined && version.isLatest);
              return (
                <Group key={version.id} justify="space-between" wrap="nowrap" gap="xs">
                  <div>
                    <Group gap={6}>
                      {version.isDeletion ? (
                        <Text size="sm">Deleted</Text>
                      ) : (
                        <Anchor
                          component={Link}
                          to={toObject(bucket, key, version.isLatest ? undefined : version.id)}
                          size="sm"
                          fw={isShown ? 600 : 400}
                          aria-current={isShown || undefined}
                        >
                          <RelativeTime time={version.modified} />
                        </Anchor>
                      )}
                      {version.isLatest && (
                        <Badge size="xs" variant="light">
                          newest
                        </Badge>
                      )}
                    </Group>
                    <Text size="xs" c="dimmed">
                      {version.isDeletion ? when : `${formatBytes(version.size)}, ${when}`}
                    </Text>
                  </div>
                  <Group gap={2} wrap="nowrap">
                    {!version.isDeletion && (
                      <Tooltip label="Download">
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          c="dimmed"
                          aria-label={`Download the version of ${when}`}
                          onClick={() => void download(bucket, key, version.id)}
                        >
                          <Download size={16} aria-hidden />
                        </ActionIcon>
                      </Tooltip>
                    )}
                    {!version.isDeletion && !version.isLatest && (
                      <Tooltip label="Restore this version">
                        <ActionIcon
                          variant="subtle"
                          color="gray"
                          c="dimmed"
                          aria-label={`Bring back the version of ${when}`}
                          loading={restore.isPending && restore.variables.id === version.id}
                          onClick={() => restore.mutate(version)}
                        >
                          <RotateCcw size={16} aria-hidden />
                        </ActionIcon>
                      </Tooltip>
                    )}
                    <Tooltip label="Delete for good">
                      <ActionIcon
                        variant="subtle"
                        color="red"
                        aria-label={`Delete the ${version.isDeletion ? "mark" : "version"} of ${when} for good`}
                        onClick={() => void callRemove(version)}
                      >
                        <Trash2 size={16} aria-hidden />
                      </ActionIcon>
                    </Tooltip>
                  </Group>
                </Group>
              );
            })}
          </Stack>
        )}
      </Awaited>
    </Paper>
  );
}
