import { List } from "@mantine/core";
import { formatPlural, useConfirm } from "@swath/ui";
import { useCallback } from "react";

import type { Entry } from "../s3/list.ts";
import type { PlacedFile } from "../uploads/read-drop.ts";
import { useUploadQueue } from "../uploads/uploads-context.tsx";

interface UseUploadOptions {
  readonly bucket: string;
  readonly prefix: string;
  /** What is in the folder already. */
  readonly entries: readonly Entry[];
}

/** Uploads files to a folder; asks before it replaces what is known to be there. */
export function useUpload({ bucket, prefix, entries }: UseUploadOptions): (files: readonly PlacedFile[]) => void {
  const queue = useUploadQueue();
  const confirm = useConfirm();
  const upload = useCallback(
    async (files: readonly PlacedFile[]) => {
      const existing = new Set(entries.map(({ name }) => name));
      const replaced = files.filter(({ path }) => existing.has(path));
      if (replaced.length > 0) {
        const isSure = await confirm({
          title: `Replace ${formatPlural(replaced.length, "object")}?`,
          body: (
            <>
              {replaced.length === 1 ? "An object of this name is" : "Objects of these names are"} in this folder
              already:
              <List size="sm" my="xs">
                {replaced.slice(0, 10).map(({ path }) => (
                  <List.Item key={path}>{path}</List.Item>
                ))}
              </List>
              {replaced.length > 10 && `and ${replaced.length - 10} more. `}
              Where the bucket keeps old versions, they can be brought back.
            </>
          ),
          action: "Replace",
          danger: true,
        });
        if (!isSure) {
          return;
        }
      }
      queue.add(
        bucket,
        files.map(({ path, file }) => ({ key: `${prefix}${path}`, file })),
      );
    },
    [bucket, prefix, entries, queue, confirm],
  );
  return useCallback((files) => void upload(files), [upload]);
}
