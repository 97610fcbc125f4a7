import { Button, FileButton, Group, Stack, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { Awaited, Empty, notifyDone } from "@swath/ui";
import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { CloudUpload, FolderOpen, FolderPlus, RefreshCw, Search } from "lucide-react";
import { useMemo, useState } from "react";
import { useSearchParams } from "react-router";

import { createFolder, listFolder, searchFiles } from "../../api/files.ts";
import type { Workspace } from "../../api/workspaces.ts";
import { usePortal } from "../../session/portal.ts";
import { DropArea } from "./drop-area.tsx";
import { FileTable } from "./file-table.tsx";
import { FolderPath } from "./folder-path.tsx";
import { NameDialog } from "./name-dialog.tsx";
import { Preview } from "./preview.tsx";
import { type Row, toRows } from "./rows.ts";
import { SelectionBar } from "./selection-bar.tsx";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

/** The files of a workspace: look, find, upload, download, rename, move, delete. The folder, the search and the file are in the address. */
export function Files({ workspace }: { readonly workspace: Workspace }) {
  const { config } = usePortal();
  const { name, role } = workspace;
  const [search, setSearch] = useSearchParams();
  const prefix = search.get("prefix") ?? "";
  const shown = search.get("file");
  const text = search.get("find") ?? "";
  const mayWrite = role !== "reader";
  const client = useQueryClient();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [isNaming, setNaming] = useState(false);
  const folder = useInfiniteQuery({
    queryKey: ["folder", name, prefix, text],
    queryFn: ({ pageParam }) =>
      text === "" ? listFolder(name, prefix, pageParam) : searchFiles(name, prefix, text, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next,
    enabled: config.files && workspace.storage !== null,
  });
  const reload = () => client.invalidateQueries({ queryKey: ["folder", name] });
  const uploads = useUploads({ workspace: name, prefix, onDone: () => void reload() });
  const rows = useMemo(() => toRows(folder.data?.pages ?? []), [folder.data]);
  const change = (
    next: { readonly prefix?: string; readonly find?: string; readonly file?: string },
    replace = false,
  ) => {
    const entries = Object.entries({ prefix, find: text, ...next }).filter(([, value]) => value !== "");
    setSearch(Object.fromEntries(entries), { replace });
  };
  const find = useDebouncedCallback((next: string) => {
    setSelected(new Set());
    change({ find: next }, true);
  }, 300);

  if (!config.files || workspace.storage === null) {
    return (
      <Empty title="No files here" icon={FolderOpen}>
        This deployment makes no storage for workspaces.
      </Empty>
    );
  }

  const open = (next: string) => {
    setSelected(new Set());
    change({ prefix: next, find: "" });
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
            <TextInput
              key={prefix}
              type="search"
              aria-label="Find files"
              placeholder="Find files"
              defaultValue={text}
              leftSection={<Search size={16} aria-hidden />}
              onChange={(event) => find(event.currentTarget.value.trim())}
              w={170}
            />
            <Button
              variant="default"
              leftSection={<RefreshCw size={16} aria-hidden />}
              loading={folder.isRefetching && !folder.isFetchingNextPage}
              onClick={() => void reload()}
            >
              Reload
            </Button>
            {mayWrite && (
              <Button
                variant="default"
                leftSection={<FolderPlus size={16} aria-hidden />}
                onClick={() => setNaming(true)}
              >
                New folder
              </Button>
            )}
            {upload}
          </Group>
        </Group>
        {selected.size > 0 && (
          <Group gap="xs" role="toolbar" aria-label="Chosen files">
            <SelectionBar
              workspace={name}
              prefix={prefix}
              chosen={rows.filter(({ key }) => selected.has(key))}
              mayWrite={mayWrite}
              onDone={async () => {
                setSelected(new Set());
                await reload();
              }}
            />
          </Group>
        )}
        <UploadList uploads={uploads} />
        <Awaited query={folder} what="Loading files">
          {() =>
            rows.length === 0 ? (
              text === "" ? (
                <Empty title="No files here yet" icon={FolderOpen} action={upload}>
                  {mayWrite
                    ? "Upload files or drop them here. Results of your jobs are stored below processing-results."
                    : "Files that the owner puts here appear here."}
                </Empty>
              ) : (
                <Empty
                  title="No matching files"
                  icon={Search}
                  action={
                    folder.hasNextPage && (
                      <Button onClick={() => void folder.fetchNextPage()} loading={folder.isFetchingNextPage}>
                        Search on
                      </Button>
                    )
                  }
                >
                  No name below {prefix === "" ? name : prefix} contains “{text}”.
                </Empty>
              )
            ) : (
              <FileTable
                workspace={name}
                prefix={prefix}
                rows={rows}
                selected={selected}
                onSelect={setSelected}
                onOpen={open}
                onShow={(key) => change({ file: key })}
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
      <Preview workspace={name} file={findShown(rows, shown)} onClose={() => change({})} />
      {isNaming && (
        <NameDialog
          title="New folder"
          label="Name"
          initial=""
          mayNest={false}
          onClose={() => setNaming(false)}
          save={async (folderName) => {
            await createFolder(name, `${prefix}${folderName}/`);
            notifyDone(`${folderName} is created.`);
            await reload();
          }}
        />
      )}
    </DropArea>
  );
}

function findShown(rows: readonly Row[], key: string | null): Row | undefined {
  return rows.find((row) => row.key === key);
}
