import { BodyReader } from "../../cli/targets/embedded/ingress/body-reader.ts";
import { filterRequestTrailers } from "../../cli/targets/embedded/ingress/fields.ts";
import { LIMITS } from "../../cli/targets/embedded/ingress/limits.ts";
import { MessageError } from "../../cli/targets/embedded/ingress/message-error.ts";
import { cutRequestHead, parseRequestHead } from "../../cli/targets/embedded/ingress/request-head.ts";
import type { Message, Reading } from "./messages.ts";

/** Reads a stream as a connection of the ingress does, in pieces as they arrive. */
export function readByIngress(pieces: readonly Buffer[]): Reading {
  const messages: Message[] = [];
  let pending: Buffer<ArrayBufferLike> = Buffer.alloc(0);
  let body: { readonly reader: BodyReader; readonly finish: () => boolean } | undefined;

  /** @returns whether the connection goes on after this message */
  const begin = (text: string) => {
    const head = parseRequestHead(text);
    let content = "";
    const reader = new BodyReader(head.framing, {
      onBody: (slice) => (content += slice.toString("latin1")),
      onBodyEnd: (trailers) => void filterRequestTrailers(trailers),
    });
    const finish = () => {
      messages.push({ method: head.method, target: head.target, body: content });
      return head.keepAlive && head.upgrade === undefined;
    };
    body = { reader, finish };
  };
  /** @returns false when the connection ends */
  const take = (): boolean => {
    for (;;) {
      if (body === undefined) {
        const head = pending.length === 0 ? undefined : cutRequestHead(pending, LIMITS.requestHeadBytes);
        if (head === undefined) {
          return true;
        }
        pending = pending.subarray(head.length);
        begin(head.text);
      }
      const { reader, finish } = body as NonNullable<typeof body>;
      pending = pending.subarray(reader.feed(pending));
      if (!reader.done) {
        return true;
      }
      body = undefined;
      if (!finish()) {
        return false;
      }
    }
  };
  try {
    for (const piece of pieces) {
      pending = Buffer.concat([pending, piece]);
      if (!take()) {
        return { messages, end: "closed" };
      }
    }
    return { messages, end: "waiting" };
  } catch (error) {
    if (error instanceof MessageError) {
      return { messages, end: "refused", why: error.message };
    }
    throw error;
  }
}
