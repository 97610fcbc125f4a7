import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, createContext, use, useEffect, useState, useSyncExternalStore } from "react";

import { type QueueState, UploadQueue } from "./queue.ts";

const UploadsContext = createContext<UploadQueue | undefined>(undefined);

/** Keeps the uploads of this window, and refreshes the lists that they change. */
export function UploadsProvider({ children }: { readonly children: ReactNode }) {
  const client = useQueryClient();
  const [queue] = useState(
    () =>
      new UploadQueue(({ bucket }) => {
        void client.invalidateQueries({ queryKey: ["objects", bucket] }, { cancelRefetch: false });
        void client.invalidateQueries({ queryKey: ["buckets"] }, { cancelRefetch: false });
      }),
  );
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
