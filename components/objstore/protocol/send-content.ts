import type { ServerResponse } from "node:http";

import type { ContentFiles } from "../store/content-files.ts";
import type { ContentReader } from "../store/content-reader.ts";
import { CONTENT_BLOCK_BYTES } from "../store/content-trailer.ts";
import type { ContentPart } from "../store/rows.ts";
import type { ByteRange } from "./range.ts";

const BLOCK = 512 << 10;

/**
 * Opens content and reads the first block of what `range` asks for, so that its absence and its damage are known before an answer has
 * begun.
 * @throws {DamagedContentError}
 */
export async function openContent(
  files: ContentFiles,
  parts: readonly ContentPart[],
  range: ByteRange,
  key?: Buffer,
): Promise<OpenContent> {
  const stretches: Stretch[] = [];
  let offset = 0;
  for (const part of parts) {
    const start = Math.max(range.start - offset, 0);
    const end = Math.min(range.end + 1 - offset, part.size);
    if (start < end) {
      stretches.push({ part, start, end });
    }
    offset += part.size;
  }
  const first = stretches[0];
  if (first === undefined) {
    return { stretches, blocks: [], key };
  }
  const total = range.end - range.start + 1;
  // A range may begin and end within blocks that are read whole.
  const size = Math.min(BLOCK, (Math.ceil(total / CONTENT_BLOCK_BYTES) + 1) * CONTENT_BLOCK_BYTES);
  const blocks = (total > size ? [0, 1] : [0]).map(() => Buffer.allocUnsafeSlow(size));
  const reader = await files.read(first.part, first.start, first.end, key);
  try {
    return { stretches, blocks, key, reader, bytes: await reader.read(blocks[0] as Buffer) };
  } catch (error) {
    await reader.close();
    throw error;
  }
}

interface Stretch {
  readonly part: ContentPart;
  readonly start: number;
  readonly end: number;
}

export interface OpenContent {
  readonly stretches: readonly Stretch[];
  readonly blocks: readonly Buffer[];
  /** Of encrypted content. */
  readonly key: Buffer | undefined;
  /** Of the first stretch, with its first bytes, which lie in the first block of memory. */
  readonly reader?: ContentReader;
  readonly bytes?: Buffer | undefined;
}

/**
 * Sends content as the body of an answer whose head is set. Two blocks of memory take turns: one is filled from the disk
 * while the other drains into the socket. Every block of the disk is verified before any of its bytes is sent.
 */
export async function sendContent(response: ServerResponse, files: ContentFiles, content: OpenContent): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { stretches, blocks, key } = content;
  let turn = 0;
  let draining: Promise<void> = Promise.resolve();
  let { reader, bytes } = content;
  try {
    for (const { part, start, end } of stretches) {
      if (gone.signal.aborted) {
        break;
      }
      reader ??= await files.read(part, start, end, key);
      while (!gone.signal.aborted) {
        bytes ??= await reader.read(blocks[turn] as Buffer);
        if (bytes === undefined) {
          break;
        }
        await draining;
        draining = drain(response, bytes, gone.signal);
        bytes = undefined;
        turn = (turn + 1) % blocks.length;
        if (blocks.length === 1) {
          await draining;
        }
      }
      await reader.close();
      reader = undefined;
    }
    await draining;
    response.end();
  } catch (error) {
    // The head is out: a broken connection is the only way left to say that the body is not whole.
    response.destroy();
    throw error;
  } finally {
    await reader?.close();
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
