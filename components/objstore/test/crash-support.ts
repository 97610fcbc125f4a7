import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";

import type * as s3 from "@aws-sdk/client-s3";

import { CONTENT_BLOCK_BYTES } from "../store/content/content-trailer.ts";
import type { ContentPart, Version } from "../store/rows.ts";
import { type ObjectStore, openStore } from "../store/store.ts";
import { createS3Client } from "./s3-client.ts";

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly client: s3.S3Client;
}

/** A service of its own process on `directory`, which kills itself when it reaches `point` for the `nth` time. */
export async function startToCrash(directory: string, point: string, nth: number, slow = 0): Promise<Started> {
  const child = fork(join(import.meta.dirname, "crash-child.ts"), [directory, point, String(nth), String(slow)], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const [port] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code, signal]) => assert.fail(`ended before it listened: ${code} ${signal}`)),
  ])) as [number];
  const url = `http://127.0.0.1:${port}`;
  return { child, url, client: createS3Client({ url }, { maxAttempts: 1 }) };
}

/** Kills what still runs, and checks that it was killed rather than that it failed. */
export async function killStarted({ child, client }: Started): Promise<void> {
  client.destroy();
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  assert.equal(child.signalCode, "SIGKILL");
}

/** The store as the next start finds it, once what is garbage is gone. */
export async function reopenStore(directory: string): Promise<ObjectStore> {
  const fail = (error: unknown) => assert.fail(String(error));
  const store = await openStore({ directory, onFailure: fail, onBackgroundError: fail });
  await store.garbage.drain();
  return store;
}

export async function readFileContent(store: ObjectStore, part: Pick<ContentPart, "file" | "size">): Promise<Buffer> {
  const reader = store.files.read({ ...part, form: 1 }, 0, part.size);
  try {
    const pieces: Buffer[] = [];
    for (;;) {
      const bytes = await reader.read(Buffer.alloc(CONTENT_BLOCK_BYTES));
      if (bytes === undefined) {
        return Buffer.concat(pieces);
      }
      pieces.push(bytes);
    }
  } finally {
    await reader.close();
  }
}

export async function readVersion(store: ObjectStore, version: Version): Promise<Buffer> {
  const content = store.contents.read(version.content ?? -1);
  assert.ok(content);
  const pieces: Uint8Array[] = "data" in content ? [content.data] : [];
  for (const part of "parts" in content ? content.parts : []) {
    pieces.push(await readFileContent(store, part));
  }
  return Buffer.concat(pieces);
}

/** Checks that the index knows every content file on the disk and no other; gives their names. */
export async function checkFiles(store: ObjectStore, directory: string): Promise<readonly string[]> {
  const referred = store.index.all<{ id: string }>("select id from files").map((row) => row.id);
  const onDisk: string[] = [];
  for (const hour of await readdir(join(directory, "content"))) {
    onDisk.push(...(await readdir(join(directory, "content", hour))).map((name) => `${hour}-${name}`));
  }
  assert.deepEqual(onDisk.sort(), referred.sort());
  return referred;
}
