import { List } from "@mantine/core";
import { formatPlural, notifyDone, notifyFailed, useConfirm } from "@swath/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Bucket } from "../buckets/use-buckets.ts";
import { type Entry, listDeep } from "../s3/list.ts";
import { removeAll } from "../s3/remove.ts";

type Chosen = Pick<Entry, "key" | "name" | "isFolder">;

interface Deletion {
  readonly send: (chosen: readonly Chosen[]) => Promise<void>;
  readonly isPending: boolean;
  /** Objects that are gone so far. */
  readonly progress: number | undefined;
}

/** Deletes objects, and folders with all that is in them, after asking. */
export function useDeletion({ name: bucket, versioning }: Bucket, onDone: () => void): Deletion {
  const client = useQueryClient();
  const confirm = useConfirm();
  const [progress, setProgress] = useState<number>();
  const remove = useMutation({
    mutationFn: async (chosen: readonly Chosen[]) => {
      let done = 0;
      const report = (more: number) => setProgress(done + more);
      const removeThese = async (keys: readonly string[]) => {
        await removeAll(
          bucket,
          keys.map((key) => ({ key })),
          report,
        );
        done += keys.length;
      };
      await removeThese(chosen.filter(({ isFolder }) => !isFolder).map(({ key }) => key));
      for (const { key } of chosen.filter(({ isFolder }) => isFolder)) {
        for await (const page of listDeep(bucket, key)) {
          await removeThese(page.map((entry) => entry.key));
        }
      }
      return done;
    },
    onSuccess: (done) => {
      notifyDone(`${formatPlural(done, "object")} deleted.`);
      onDone();
    },
    onError: (error) => notifyFailed("Not everything was deleted", error),
    onSettled: async () => {
      setProgress(undefined);
      await Promise.all([
        client.invalidateQueries({ queryKey: ["objects", bucket] }),
        client.invalidateQueries({ queryKey: ["object", bucket] }),
        client.invalidateQueries({ queryKey: ["buckets"] }),
      ]);
    },
  });
  const send = async (chosen: readonly Chosen[]) => {
    const hasFolders = chosen.some(({ isFolder }) => isFolder);
    const isKept = versioning === "Enabled";
    const what = formatPlural(chosen.length, hasFolders ? "entry" : "object", hasFolders ? "entries" : "objects");
    const isSure = await confirm({
      title: `Delete ${what}?`,
      body: (
        <>
          <List size="sm" mb="xs">
            {chosen.slice(0, 8).map(({ key, name }) => (
              <List.Item key={key} style={{ overflowWrap: "anywhere" }}>
                {name}
              </List.Item>
            ))}
          </List>
          {chosen.length > 8 && `and ${chosen.length - 8} more. `}
          {hasFolders && "Folders are deleted with everything in them. "}
          {isKept
            ? "This bucket keeps old versions: they can be brought back, and go on counting as used."
            : "This cannot be undone."}
        </>
      ),
      action: `Delete ${what}`,
      danger: true,
    });
    if (isSure) {
      remove.mutate(chosen);
    }
  };
  return { send, isPending: remove.isPending, progress };
}
