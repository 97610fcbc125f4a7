import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, createContext, use, useEffect, useState, useSyncExternalStore } from "react";

import { type QueueState, UploadQueue } from "./queue.ts";

/** Milliseconds from the end of an upload until lists are fetched again, so that many small files fetch them once. */
const REFRESH_AFTER = 1000;
const UploadsContext = createContext<UploadQueue | undefined>(undefined);

/** Keeps the uploads of this window, and refreshes the lists that they change. */
export function UploadsProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [queue] = useState(() => {
    const changed = new Set<string>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = () => {
      timer = undefined;
      for (const bucket of changed) {
        void client.invalidateQueries({ queryKey: ["objects", bucket] });
        void client.invalidateQueries({ queryKey: ["object", bucket] });
      }
      changed.clear();
      void client.invalidateQueries({ queryKey: ["buckets"] });
    };
    return new UploadQueue(({ bucket }) => {
      changed.add(bucket);
      timer ??= setTimeout(refresh, REFRESH_AFTER);
    });
  });
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent) => {
      if (queue.read().active > 0) {
        event.preventDefault();
      }
    };
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [queue]);
  return <UploadsContext value={queue}>{children}</UploadsContext>;
}

export function useUploadQueue(): UploadQueue {
  const queue = use(UploadsContext);
  if (queue === undefined) {
    throw new Error("useUploadQueue is used outside of UploadsProvider");
  }
  return queue;
}

export function useUploads(): QueueState {
  const queue = useUploadQueue();
  return useSyncExternalStore(queue.subscribe, queue.read);
}
