import { setTimeout as sleep } from "node:timers/promises";

import type { Peer } from "@swath/service";
import { createBackOff } from "@swath/work/back-off";
import { createParser } from "eventsource-parser";

/** The catalogue says this often whether it has told everything. */
const BEAT_SECONDS = 1;
/** After this silence what is known is not relied on: below the 2 s in which changes are to be seen. */
const MAX_SILENCE_MS = 1900;
/** A stream that is silent for longer is opened again. */
const STREAM_TIMEOUT_MS = 10_000;
/** Without a question for so long the stream is closed, so that a service that nobody uses does nothing. */
const IDLE_MS = 60_000;
/** After this many collections it is no longer told apart which of them changed. */
const MAX_COLLECTIONS = 10_000;
const MAX_EVENT_CHARACTERS = 65_536;

const backOff = createBackOff({ firstSeconds: 0.2, maxSeconds: 5 });

/** Moments in the order of changes. */
export type FeedMark = number;

/** The catalogue's changes, followed while somebody asks. It tells whether what was asked for earlier still holds. */
export interface ChangeFeed {
  /** Before asking the catalogue: a moment to compare with later. Begins to follow. */
  readonly mark: () => FeedMark;
  /** Whether it is certain that nothing has changed since, in these collections or in any. False while the feed is not there. */
  readonly isUnchanged: (since: FeedMark, collections?: readonly string[]) => boolean;
  readonly close: () => Promise<void>;
}

interface ChangeFeedOptions {
  readonly peer: Peer;
  /** What the catalogue knows as its `FEED_KEY`: changes of all collections are told. */
  readonly key: string;
  /** Called when the feed is lost. */
  readonly onError: (error: Error) => void;
}

/** Follows `/changes` as server-sent events; a stream that breaks is resumed at the last change that was told. */
export function createChangeFeed({ peer, key, onError }: ChangeFeedOptions): ChangeFeed {
  const changedAt = new Map<string, FeedMark>();
  let now: FeedMark = 0;
  let allChangedAt: FeedMark = 0;
  let lastId: string | undefined;
  let usedAt = 0;
  let heardAt = 0;
  /** Everything that was committed has been told. */
  let isCurrent = false;
  let running: Promise<void> | undefined;
  const closing = new AbortController();

  const noteAll = () => {
    now += 1;
    allChangedAt = now;
    changedAt.clear();
  };
  const note = (collection: string) => {
    now += 1;
    changedAt.set(collection, now);
    if (changedAt.size > MAX_COLLECTIONS) {
      noteAll();
    }
  };
  const isIdle = () => Date.now() - usedAt > IDLE_MS;

  const readStream = async (onAlive: () => void): Promise<void> => {
    const stop = new AbortController();
    const { statusCode, body } = await peer.dispatcher.request({
      origin: peer.origin,
      path: `/changes?beat=${BEAT_SECONDS}`,
      method: "GET",
      headers: {
        accept: "text/event-stream",
        "x-feed-key": key,
        ...(lastId !== undefined && { "last-event-id": lastId }),
      },
      headersTimeout: STREAM_TIMEOUT_MS,
      bodyTimeout: STREAM_TIMEOUT_MS,
      signal: AbortSignal.any([closing.signal, stop.signal]),
    });
    if (statusCode !== 200) {
      await body.dump();
      if (statusCode === 410) {
        lastId = undefined;
      }
      throw new Error(`the catalogue answered with status ${statusCode} when its changes were to be followed`);
    }
    const parser = createParser({
      maxBufferSize: MAX_EVENT_CHARACTERS,
      onId: (id) => {
        if (lastId === undefined) {
          // The stream begins now: what was asked for before may have changed unseen.
          noteAll();
        }
        lastId = id;
      },
      onEvent: ({ data }) => {
        const collection = collectionOf(data);
        if (collection === undefined) {
          noteAll();
        } else {
          note(collection);
        }
      },
      onComment: (comment) => {
        isCurrent = comment.trim() === "current";
        onAlive();
        if (isIdle()) {
          stop.abort();
        }
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of body as AsyncIterable<Buffer>) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      heardAt = Date.now();
    }
    throw new Error("the catalogue ended the stream of its changes");
  };

  const run = async (): Promise<void> => {
    let attempts = 0;
    let isReported = false;
    while (!closing.signal.aborted && !isIdle()) {
      try {
        await readStream(() => {
          attempts = 0;
          isReported = false;
        });
      } catch (error) {
        isCurrent = false;
        if (closing.signal.aborted || isIdle()) {
          break;
        }
        if (!isReported) {
          onError(error as Error);
          isReported = true;
        }
      }
      attempts += 1;
      await sleep(backOff(attempts) * 1000, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    running = undefined;
  };

  return {
    mark: () => {
      usedAt = Date.now();
      if (!closing.signal.aborted) {
        running ??= run();
      }
      return now;
    },
    isUnchanged: (since, collections) => {
      usedAt = Date.now();
      if (!isCurrent || Date.now() - heardAt > MAX_SILENCE_MS) {
        return false;
      }
      return collections === undefined
        ? now <= since
        : allChangedAt <= since && collections.every((id) => (changedAt.get(id) ?? 0) <= since);
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/** The collection that an event (CloudEvents 1.0) is about. */
function collectionOf(data: string): string | undefined {
  try {
    const { data: change } = JSON.parse(data) as { data?: { collection?: unknown } };
    return typeof change?.collection === "string" ? change.collection : undefined;
  } catch {
    return undefined;
  }
}
