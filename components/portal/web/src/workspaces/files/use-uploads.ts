import { useConfirm } from "@swath/ui";
import { RequestError } from "@swath/ui";
import { useCallback, useEffect, useRef, useState } from "react";

import { uploadFile } from "../../api/files.ts";

/** A file on its way to the workspace. */
export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  /** 0 to 1. */
  readonly share: number;
  readonly state: "waiting" | "sending" | "done" | "failed";
  readonly error?: unknown;
}

export interface Uploads {
  readonly list: readonly Upload[];
  readonly add: (files: File[]) => void;
  readonly cancel: (id: number) => void;
  /** Takes what has ended off the list. */
  readonly clear: () => void;
}

interface UploadTarget {
  readonly workspace: string;
  readonly prefix: string;
  readonly onDone: () => void;
}

/** Sends files one after the other, into the folder that was open when they were chosen. */
export function useUploads({ workspace, prefix, onDone }: UploadTarget): Uploads {
  const [list, setList] = useState<readonly Upload[]>([]);
  const confirm = useConfirm();
  const queue = useRef(Promise.resolve());
  const running = useRef(new Map<number, AbortController>());
  const next = useRef(0);
  const isBusy = list.some(({ state }) => state === "waiting" || state === "sending");
  useEffect(() => {
    if (!isBusy) {
      return undefined;
    }
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => window.removeEventListener("beforeunload", warn);
  }, [isBusy]);

  const change = useCallback(
    (id: number, part: Partial<Upload>) =>
      setList((before) => before.map((upload) => (upload.id === id ? { ...upload, ...part } : upload))),
    [],
  );

  const send = async (id: number, file: File) => {
    const controller = running.current.get(id);
    if (controller === undefined || controller.signal.aborted) {
      return;
    }
    const { signal } = controller;
    const key = `${prefix}${file.name}`;
    const options = { signal, onProgress: (share: number) => change(id, { share }) };
    change(id, { state: "sending" });
    try {
      try {
        await uploadFile(workspace, key, file, options);
      } catch (error) {
        const exists = error instanceof RequestError && error.status === 412;
        const question = { title: `Replace ${file.name}?`, body: "There is a file of that name.", action: "Replace" };
        if (!exists || !(await confirm(question))) {
          throw error;
        }
        await uploadFile(workspace, key, file, { ...options, replace: true });
      }
      change(id, { state: "done", share: 1 });
      onDone();
    } catch (error) {
      change(id, { state: "failed", error });
    } finally {
      running.current.delete(id);
    }
  };

  return {
    list,
    add: (files) => {
      for (const file of files) {
        const id = (next.current += 1);
        running.current.set(id, new AbortController());
        setList((before) => [...before, { id, name: file.name, size: file.size, share: 0, state: "waiting" }]);
        queue.current = queue.current.then(() => send(id, file));
      }
    },
    cancel: (id) => {
      running.current.get(id)?.abort();
      setList((before) => before.filter((upload) => upload.id !== id));
    },
    clear: () => setList((before) => before.filter(({ state }) => state === "waiting" || state === "sending")),
  };
}
