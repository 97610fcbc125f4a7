import { Button, FileButton, Group, Stack } from "@mantine/core";
import { Awaited, Empty, formatPlural, notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { CloudUpload, FolderOpen, RefreshCw, Trash } from "lucide-react";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";

import { deleteFile, deleteFolder, listFolder } from "../../api/files.ts";
import type { Workspace } from "../../api/workspaces.ts";
import { usePortal } from "../../session/portal.ts";
import { DropArea } from "./drop-area.tsx";
import { FileTable } from "./file-table.tsx";
import { FolderPath } from "./folder-path.tsx";
import { Preview } from "./preview.tsx";
import { toRows } from "./rows.ts";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

/** The files of a workspace: look, upload, download, delete. */
export function Files({ workspace }: { readonly workspace: Workspace }) {
  const { config } = usePortal();
  const { name, role } = workspace;
  const [search, setSearch] = useSearchParams();
  const prefix = search.get("prefix") ?? "";
  const shown = search.get("file");
  const mayWrite = role !== "reader";
  const client = useQueryClient();
  const confirm = useConfirm();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isDeleting, setDeleting] = useState(false);
  const folder = useInfiniteQuery({
    queryKey: ["folder", name, prefix],
    queryFn: ({ pageParam }) => listFolder(name, prefix, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    enabled: config.files && workspace.storage !== null,
  });
  const reload = () => client.invalidateQueries({ queryKey: ["folder", name] });
  const uploads = useUploads({ workspace: name, prefix, onDone: () => void reload() });
  const rows = useMemo(() => toRows(folder.data?.pages ?? []), [folder.data]);

  if (!config.files || workspace.storage === null) {
    return (
      <Empty title="No files here" icon={FolderOpen}>
        This deployment makes no storage for workspaces.
      </Empty>
    );
  }

  const open = (next: string) => {
    setSelected(new Set());
    setSearch(next === "" ? {} : { prefix: next });
  };
  const show = (key: string | undefined) =>
    setSearch({ ...(prefix !== "" && { prefix }), ...(key !== undefined && { file: key }) });
  const remove = async () => {
    const chosen = rows.filter(({ key }) => selected.has(key));
    const hasFolder = chosen.some(({ isFolder }) => isFolder);
    const yes = await confirm({
      title: `Delete ${formatPlural(chosen.length, "entry", "entries")}?`,
      body: hasFolder ? "Folders go with everything in them. This cannot be undone." : "This cannot be undone.",
      action: "Delete",
      danger: true,
    });
    if (!yes) {
      return;
    }
    setDeleting(true);
    try {
      for (const { key, isFolder } of chosen) {
        await (isFolder ? deleteFolder(name, key) : deleteFile(name, key));
      }
      notifyDone(`${formatPlural(chosen.length, "entry", "entries")} deleted.`);
    } catch (error) {
      notifyFailed("Not everything was deleted", error);
    }
    setDeleting(false);
    setSelected(new Set());
    await reload();
  };

  const upload = mayWrite && (
    <FileButton onChange={uploads.add} multiple>
      {(props) => (
        <Button {...props} leftSection={<CloudUpload size={16} aria-hidden />}>
          Upload
        </Button>
      )}
    </FileButton>
  );
  return (
    <DropArea onDrop={mayWrite ? uploads.add : undefined}>
      <Stack>
        <Group justify="space-between">
          <FolderPath root={name} prefix={prefix} onOpen={open} />
          <Group gap="xs">
            {selected.size > 0 && mayWrite && (
              <Button
                color="red"
                variant="light"
                leftSection={<Trash size={16} aria-hidden />}
                loading={isDeleting}
                onClick={() => void remove()}
              >
                Delete {selected.size}
              </Button>
            )}
            <Button
              variant="default"
              leftSection={<RefreshCw size={16} aria-hidden />}
              loading={folder.isRefetching && !folder.isFetchingNextPage}
              onClick={() => void reload()}
            >
              Reload
            </Button>
            {upload}
          </Group>
        </Group>
        <UploadList uploads={uploads} />
        <Awaited query={folder} what="Listing files">
          {() =>
            rows.length === 0 ? (
              <Empty title="No files here yet" icon={FolderOpen} action={upload}>
                {mayWrite
                  ? "Upload files or drop them here. Results of your jobs appear here as well."
                  : "Files that the owner puts here appear here."}
              </Empty>
            ) : (
              <FileTable
                workspace={name}
                prefix={prefix}
                rows={rows}
                selected={selected}
                onSelect={mayWrite ? setSelected : undefined}
                onOpen={open}
                onShow={show}
                more={
                  folder.hasNextPage
                    ? { load: () => void folder.fetchNextPage(), isLoading: folder.isFetchingNextPage }
                    : undefined
                }
              />
            )
          }
        </Awaited>
      </Stack>
      <Preview workspace={name} file={rows.find(({ key }) => key === shown)} onClose={() => show(undefined)} />
    </DropArea>
  );
}
