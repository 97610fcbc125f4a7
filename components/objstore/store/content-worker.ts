// Hashes and writes the content of large uploads. Chunks arrive in shared memory, so nothing is copied between threads
// and nothing is left for the garbage collector.
import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";

import type { ContentAnswer, ContentCommand } from "./content-protocol.ts";
import { type Digests, createDigests } from "./digests.ts";

interface OpenFile {
  readonly descriptor: number;
  readonly digests: Digests;
  readonly memory: Uint8Array;
}

const files = new Map<number, OpenFile>();

parentPort?.on("message", (command: ContentCommand) => {
  handle(command).then(
    (answer) => parentPort?.postMessage(answer),
    (error: unknown) => {
      discard(command.writer);
      // An error loses its code on the way to another thread.
      const code = error instanceof Error && "code" in error ? String(error.code) : undefined;
      parentPort?.postMessage({ writer: command.writer, kind: "failed", error, code } satisfies ContentAnswer);
    },
  );
});

async function handle(command: ContentCommand): Promise<ContentAnswer> {
  const { writer } = command;
  if (command.kind === "open") {
    files.set(writer, {
      descriptor: openSync(command.path, "wx", 0o600),
      digests: createDigests(command.digests),
      memory: new Uint8Array(command.memory),
    });
    return { writer, kind: "opened" };
  }
  const file = files.get(writer);
  if (file === undefined) {
    return { writer, kind: "closed" };
  }
  switch (command.kind) {
    case "write": {
      const bytes = file.memory.subarray(command.offset, command.offset + command.length);
      file.digests.update(bytes);
      writeAll(file.descriptor, bytes);
      return { writer, kind: "written", offset: command.offset };
    }
    case "sync":
      fsyncSync(file.descriptor);
      return { writer, kind: "synced", digests: await file.digests.finish() };
    case "close":
      discard(writer);
      return { writer, kind: "closed" };
  }
}

function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += writeSync(descriptor, bytes, done);
  }
}

function discard(writer: number): void {
  const file = files.get(writer);
  if (file !== undefined) {
    files.delete(writer);
    closeSync(file.descriptor);
  }
}
