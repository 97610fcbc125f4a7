import type { Peer } from "@swath/service";
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
const MIN_PAUSE = 200;
const MAX_BACKOFF = 5000;
const MAX_EVENT = 65_536;

/** Follows a stream of events for ever, connecting again with growing pauses, until the signal ends it. */
export async function followEvents({ onEvent, onBreak, signal, ...options }: FollowOptions): Promise<void> {
  let pause = MIN_PAUSE;
  while (!signal.aborted) {
    try {
      await readStream(options, signal, (event) => {
        pause = MIN_PAUSE;
        onEvent(event);
      });
    } catch (error) {
      if (signal.aborted) {
        return;
      }
      onBreak(error);
    }
    await sleep(pause, undefined, { signal }).catch(() => undefined);
    pause = Math.min(MAX_BACKOFF, pause * 2);
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
  const parse = createEventParser(onEvent);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    parse(chunk.toString("utf8"));
  }
  throw new Error("the stream ended");
}

/** Takes the text of a stream piece by piece and calls back for every whole event. */
export function createEventParser(onEvent: (event: StreamEvent) => void): (text: string) => void {
  let rest = "";
  let event = "message";
  let data: string[] = [];
  return (text) => {
    rest += text;
    if (rest.length > MAX_EVENT) {
      throw new Error("an event is too long");
    }
    // A carriage return at the very end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "") {
        if (data.length > 0) {
          onEvent({ event, data: data.join("\n") });
        }
        event = "message";
        data = [];
      } else if (line.startsWith("event:")) {
        event = line.slice("event:".length).trimStart();
      } else if (line.startsWith("data:")) {
        data.push(line.slice("data:".length).replace(/^ /, ""));
      }
    }
  };
}
