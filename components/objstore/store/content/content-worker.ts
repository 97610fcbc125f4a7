// Hashes and writes the content of large uploads. Chunks arrive in shared memory, so nothing is copied between threads
// and nothing is left for the garbage collector. This thread hashes; writing and forcing to the disk go on beside it.
import { parentPort } from "node:worker_threads";

import type { ContentResponse, ContentCommand } from "./content-protocol.ts";
import { prepareDigests } from "../digests/digests.ts";
import { OpenFile } from "./open-file.ts";

const files = new Map<number, OpenFile>();

parentPort?.on("message", (command: ContentCommand) => {
  handle(command).then(
    (response) => parentPort?.postMessage(response),
    async (error: unknown) => {
      await discard(command.writer);
      // An error loses its code on the way to another thread.
      const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
      parentPort?.postMessage({ writer: command.writer, kind: "failed", error, code } satisfies ContentResponse);
    },
  );
});

async function handle(command: ContentCommand): Promise<ContentResponse> {
  const { writer } = command;
  if (command.kind === "open") {
    await prepareDigests(command.digests);
    files.set(writer, new OpenFile(command.path, command.digests, new Uint8Array(command.memory), command.encryption));
    return { writer, kind: "opened" };
  }
  const file = files.get(writer);
  if (file === undefined) {
    return { writer, kind: "closed" };
  }
  switch (command.kind) {
    case "write":
      await file.append(command.offset, command.length);
      return { writer, kind: "written", offset: command.offset };
    case "sync":
      return { writer, kind: "synced", digests: await file.finish(command.label) };
    case "close":
      await discard(writer);
      return { writer, kind: "closed" };
  }
}

async function discard(writer: number): Promise<void> {
  const file = files.get(writer);
  if (file !== undefined) {
    files.delete(writer);
    await file.close();
  }
}
