import { type CallerPlaces, releaseOnClose } from "@swath/service/caller-limits";
import type { FastifyReply, FastifyRequest } from "fastify";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Milliseconds after which a silent stream sends a comment, so that proxies keep it. */
const KEEP_ALIVE = 15_000;

/** An answer of server-sent events (HTML living standard §9.2). */
export interface EventStream {
  /** Aborted when nobody listens any more, or the service stops. */
  readonly signal: AbortSignal;
  readonly send: (event: string, data: unknown, id?: string) => Promise<void>;
  /** Waits; a stream that was silent for long says that it is there. */
  readonly pause: (milliseconds: number) => Promise<void>;
}

interface StreamOptions {
  readonly streams: CallerPlaces;
  /** Whose job it is. */
  readonly user: string;
  /** Aborted when the service stops. */
  readonly closing: AbortSignal;
}

/** Answers with what `write` sends, until it ends or the client closes the connection. @throws {Problem} 429, 503 where too many are open */
export async function sendEvents(
  request: FastifyRequest,
  reply: FastifyReply,
  { streams, user, closing }: StreamOptions,
  write: (stream: EventStream) => Promise<void>,
): Promise<void> {
  const { raw } = reply;
  const releasePlace = streams.take({ user, address: request.ip });
  const gone = new AbortController();
  releaseOnClose(raw, () => {
    releasePlace();
    gone.abort();
  });
  const signal = AbortSignal.any([gone.signal, closing]);
  reply.hijack();
  if (gone.signal.aborted) {
    return;
  }
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
  let silentSince = Date.now();
  const put = async (text: string) => {
    silentSince = Date.now();
    if (!raw.write(text)) {
      await once(raw, "drain", { signal });
    }
  };
  try {
    await put("retry: 1000\n\n");
    await write({
      signal,
      send: (event, data, id) =>
        put(`${id === undefined ? "" : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
      pause: async (milliseconds) => {
        if (Date.now() - silentSince > KEEP_ALIVE) {
          await put(": still at work\n\n");
        }
        await sleep(milliseconds, undefined, { signal });
      },
    });
  } catch (error) {
    if (!signal.aborted) {
      request.log.warn({ err: error }, "a stream of events broke off");
    }
  } finally {
    raw.end();
  }
}
