import type { FileHandle } from "node:fs/promises";
import type { ServerResponse } from "node:http";

import type { ContentFiles } from "../store/content-files.ts";
import type { ContentPart } from "../store/rows.ts";
import type { ByteRange } from "./range.ts";

const BLOCK = 512 << 10;

/** Opens the first file that `range` touches, so that its absence is known before an answer has begun. */
export async function openContent(
  files: ContentFiles,
  parts: readonly ContentPart[],
  range: ByteRange,
): Promise<OpenContent> {
  const stretches: Stretch[] = [];
  let offset = 0;
  for (const { file, size } of parts) {
    const start = Math.max(range.start - offset, 0);
    const end = Math.min(range.end + 1 - offset, size);
    if (start < end) {
      stretches.push({ file, start, end });
    }
    offset += size;
  }
  const first = stretches[0];
  return { stretches, ...(first && { first: await files.open(first.file) }) };
}

interface Stretch {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

export interface OpenContent {
  readonly stretches: readonly Stretch[];
  readonly first?: FileHandle;
}

/**
 * Sends content as the body of an answer whose head is set. Two blocks of memory take turns: one is filled from the disk
 * while the other drains into the socket.
 */
export async function sendContent(response: ServerResponse, files: ContentFiles, content: OpenContent): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const total = content.stretches.reduce((sum, { start, end }) => sum + end - start, 0);
  const blocks = [0, 1].map(() => Buffer.allocUnsafeSlow(Math.min(BLOCK, total)));
  let turn = 0;
  let draining: Promise<void> = Promise.resolve();
  let handle = content.first;
  try {
    for (const { file, start, end } of content.stretches) {
      handle ??= await files.open(file);
      for (let at = start; at < end && !gone.signal.aborted;) {
        const block = blocks[turn] as Buffer;
        turn = 1 - turn;
        const { bytesRead } = await handle.read(block, 0, Math.min(block.length, end - at), at);
        if (bytesRead === 0) {
          throw new Error(`content file ${file} is shorter than the index says`);
        }
        await draining;
        draining = drain(response, block.subarray(0, bytesRead), gone.signal);
        at += bytesRead;
      }
      await handle.close();
      handle = undefined;
    }
    await draining;
    response.end();
  } catch (error) {
    // The head is out: a broken connection is the only way left to say that the body is not whole.
    response.destroy();
    throw error;
  } finally {
    await handle?.close();
  }
}

function drain(response: ServerResponse, block: Buffer, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted) {
      resolve();
      return;
    }
    gone.addEventListener("abort", () => resolve(), { once: true });
    response.write(block, () => resolve());
  });
}
