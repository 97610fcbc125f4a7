import { Box, Button, Group, Stack, Text, TextInput } from "@mantine/core";
import { Empty, ErrorNote, Loading, formatCount } from "@swath/ui";
import { FolderOpen, Search } from "lucide-react";
import { useCallback, useDeferredValue, useMemo, useState } from "react";
import { useSearchParams } from "react-router";

import { useThisBucket } from "../buckets/bucket-page.tsx";
import { Breadcrumbs } from "./breadcrumbs.tsx";
import { DropZone } from "./drop-zone.tsx";
import { FolderTable } from "./folder-table.tsx";
import { SelectionBar } from "./selection-bar.tsx";
import { UploadButtons } from "./upload-buttons.tsx";
import { useFolder } from "./use-folder.ts";
import { useUpload } from "./use-upload.tsx";

/** A folder of a bucket: what is in it, and everything that is done with it. */
export function Component() {
  const bucket = useThisBucket();
  const [search] = useSearchParams();
  const prefix = search.get("prefix") ?? "";
  // Another folder begins anew: nothing is chosen, nothing is filtered.
  return <Folder key={`${bucket.name}/${prefix}`} prefix={prefix} />;
}

function Folder({ prefix }: { readonly prefix: string }) {
  const bucket = useThisBucket();
  const folder = useFolder(bucket.name, prefix);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [filter, setFilter] = useState("");
  const requested = useDeferredValue(filter.trim().toLowerCase());
  const upload = useUpload({ bucket: bucket.name, prefix, entries: folder.entries ?? [] });
  const shown = useMemo(
    () =>
      requested === "" ? folder.entries : folder.entries?.filter(({ name }) => name.toLowerCase().includes(requested)),
    [folder.entries, requested],
  );
  const chosen = useMemo(
    () => (folder.entries ?? []).filter(({ key }) => selected.has(key)),
    [folder.entries, selected],
  );
  const clear = useCallback(() => setSelected(new Set()), []);
  return (
    <DropZone label={`Drop files here to upload them to ${prefix === "" ? bucket.name : prefix}`} onDrop={upload}>
      <Stack gap="sm">
        <Group justify="space-between" gap="sm">
          <Breadcrumbs bucket={bucket.name} prefix={prefix} />
          <UploadButtons bucket={bucket.name} prefix={prefix} onFiles={upload} />
        </Group>
        {folder.error !== null && folder.error !== undefined && (
          <ErrorNote error={folder.error} onRetry={folder.refetch} />
        )}
        {folder.entries === undefined && !folder.error && <Loading what="Loading objects" />}
        {folder.entries?.length === 0 && (
          <Empty title="Nothing here" icon={FolderOpen}>
            Drop files and folders on this page, or choose them with the buttons above. With the S3 API:{" "}
            <code>{`aws s3 cp FILE s3://${bucket.name}/${prefix}`}</code>
          </Empty>
        )}
        {folder.entries !== undefined && folder.entries.length > 0 && (
          <>
            {chosen.length > 0 ? (
              <SelectionBar bucket={bucket} chosen={chosen} onDone={clear} />
            ) : (
              <Group gap="sm">
                <TextInput
                  aria-label="Filter by name"
                  placeholder="Filter by name"
                  leftSection={<Search size={16} aria-hidden />}
                  value={filter}
                  onChange={(event) => setFilter(event.currentTarget.value)}
                  w={{ base: "100%", sm: 280 }}
                />
                <Text size="sm" c="dimmed" role="status">
                  {describe(folder.entries.length, shown?.length ?? 0, folder.isLoading)}
                </Text>
              </Group>
            )}
            <FolderTable
              bucket={bucket.name}
              label={`Objects in ${prefix === "" ? bucket.name : prefix}`}
              entries={shown ?? []}
              selected={selected}
              onSelect={setSelected}
            />
            {folder.hasMore && (
              <Box>
                <Button variant="default" onClick={folder.loadMore}>
                  Load more
                </Button>
              </Box>
            )}
          </>
        )}
      </Stack>
    </DropZone>
  );
}

function describe(all: number, shown: number, isLoading: boolean): string {
  const count = shown === all ? formatCount(all) : `${formatCount(shown)} of ${formatCount(all)}`;
  return isLoading ? `${count}, loading more …` : `${count} ${all === 1 ? "entry" : "entries"}`;
}
