import type { Peer } from "@swath/service";
import { createBackOff } from "@swath/work/back-off";
import { createParser } from "eventsource-parser";
import { setTimeout as sleep } from "node:timers/promises";

/** One server-sent event (HTML Standard §9.2.6). */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

interface FollowOptions {
  readonly peer: Peer;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly onEvent: (event: StreamEvent) => void;
  /** The stream broke or could not be opened. */
  readonly onBreak: (reason: unknown) => void;
  readonly signal: AbortSignal;
}

/** The other side sends a comment every 15 seconds; a stream silent for longer than this is dead. */
const IDLE_TIMEOUT_MS = 40_000;
const MAX_EVENT_CHARACTERS = 65_536;

const backOff = createBackOff({ firstSeconds: 0.2, maxSeconds: 5 });

/** Follows a stream of events for ever, connecting again with growing pauses, until the signal ends it. */
export async function followEvents({ onEvent, onBreak, signal, ...options }: FollowOptions): Promise<void> {
  let attempts = 0;
  while (!signal.aborted) {
    try {
      await readStream(options, signal, (event) => {
        attempts = 0;
        onEvent(event);
      });
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      onBreak(error);
    }
    attempts += 1;
    await sleep(backOff(attempts) * 1000, undefined, { signal }).catch(() => undefined);
  }
}

async function readStream(
  { peer, path, headers }: Pick<FollowOptions, "peer" | "path" | "headers">,
  signal: AbortSignal,
  onEvent: (event: StreamEvent) => void,
): Promise<void> {
  const { statusCode, body } = await peer.dispatcher.request({
    origin: peer.origin,
    path,
    method: "GET",
    headers: { accept: "text/event-stream", ...headers },
    headersTimeout: 10_000,
    bodyTimeout: IDLE_TIMEOUT_MS,
    signal,
  });
  if (statusCode !== 200) {
    await body.dump();
    throw new Error(`${path} answered ${statusCode}`);
  }
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARACTERS,
    onEvent: ({ event = "message", data }) => onEvent({ event, data }),
  });
  const decoder = new TextDecoder();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    parser.feed(decoder.decode(chunk, { stream: true }));
  }
  throw new Error("the stream ended");
}
