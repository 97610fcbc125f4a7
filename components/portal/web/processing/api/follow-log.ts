import { createParser } from "eventsource-parser";

import type { LogPiece } from "../model/log-lines.ts";
import type { ProcessingClient } from "./processing-client.ts";

/** Milliseconds before a stream that broke off is asked for again. */
const PAUSE = 1500;
/** Milliseconds for which pieces are gathered, so that a fast log does not draw the page for each line. */
const GATHER = 120;

interface FollowOptions {
  readonly client: Pick<ProcessingClient, "followLog">;
  readonly job: string;
  readonly signal: AbortSignal;
  readonly onPieces: (pieces: readonly LogPiece[]) => void;
  /** Whether the stream is there at the moment. */
  readonly onState: (state: "live" | "broken" | "ended") => void;
}

/**
 * Follows the log of a job until its end, over streams that break off: each begins from the start again, and what was seen is
 * passed over by its number.
 */
export async function followLog({ client, job, signal, onPieces, onState }: FollowOptions): Promise<void> {
  let seen = 0n;
  let hasEnded = false;
  let gathered: LogPiece[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hand = () => {
    clearTimeout(timer);
    timer = undefined;
    if (gathered.length > 0 && !signal.aborted) {
      onPieces(gathered);
      gathered = [];
    }
  };
  const parser = createParser({
    onEvent: ({ event, id, data }) => {
      if (event === "end") {
        hasEnded = true;
        return;
      }
      const number = /^\d+$/.test(id ?? "") ? BigInt(id ?? 0) : undefined;
      if (event !== "log" || (number !== undefined && number <= seen)) {
        return;
      }
      seen = number ?? seen;
      gathered.push(JSON.parse(data) as LogPiece);
      timer ??= setTimeout(hand, GATHER);
    },
  });
  while (!hasEnded && !signal.aborted) {
    try {
      const { body } = await client.followLog(job, signal);
      onState("live");
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
      for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
        parser.feed(part.value);
      }
    } catch {
      // Below: whatever it was, the stream is asked for again; a job that is gone shows so on its page.
    }
    hand();
    parser.reset();
    if (!hasEnded && !signal.aborted) {
      onState("broken");
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
  if (!signal.aborted) {
    onState("ended");
  }
}
