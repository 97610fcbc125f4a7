import type { ServerResponse } from "node:http";

import type { ContentBlock, ContentStream } from "../store/content/content-stream.ts";

/**
 * Sends content as the body of an answer whose head is set. The first block was read before, so that its absence and its damage are known
 * before an answer has begun. While some blocks drain into the socket the next ones are read; every block of the disk is verified
 * before any of its bytes is sent.
 */
export async function sendContent(
  response: ServerResponse,
  stream: ContentStream,
  first: ContentBlock | undefined,
): Promise<void> {
  const socket = new BlockWriter(response, stream);
  try {
    for (let block = first; block !== undefined && !socket.isGone; block = await stream.next()) {
      socket.write(block);
      await socket.untilFewerThan(stream.depth);
    }
    await socket.untilFewerThan(1);
    response.end();
  } catch (error) {
    // The head is out: a broken connection is the only way left to say that the body is not whole.
    response.destroy();
    throw error;
  }
}

/** Gives memory back to the stream as soon as its bytes are the kernel's. */
class BlockWriter {
  readonly #response: ServerResponse;
  readonly #stream: ContentStream;
  #unsent = 0;
  #wake: () => void = () => {};
  isGone = false;

  constructor(response: ServerResponse, stream: ContentStream) {
    this.#response = response;
    this.#stream = stream;
    response.once("close", () => {
      this.isGone = true;
      this.#wake();
    });
  }

  write(block: ContentBlock): void {
    this.#unsent += 1;
    this.#response.write(block.bytes, () => {
      this.#unsent -= 1;
      this.#stream.release(block);
      this.#wake();
    });
  }

  /** Waits until fewer blocks than `count` are on their way, or the client is gone. */
  async untilFewerThan(count: number): Promise<void> {
    while (this.#unsent >= count && !this.isGone) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
