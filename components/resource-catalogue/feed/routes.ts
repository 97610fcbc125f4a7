import { releaseOnClose } from "@swath/service/caller-limits";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { badParameter, problem } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import {
  type Change,
  type FeedPosition,
  hasHeldBackChanges,
  isRetained,
  readChanges,
  readFeedEnd,
} from "../store/changes.ts";
import { parseLimit } from "../stac/search-parameters.ts";
import { sendJson } from "../stac/respond.ts";
import type { ChangeAnnouncer } from "./change-announcer.ts";
import { toCloudEvent } from "./cloud-event.ts";
import { narrowCollections, readFollower } from "./keys.ts";
import { parsePosition, toPositionText } from "./position.ts";

const PAGE = 500;
/** Followers look by themselves at least this often, and are shown that the connection lives. */
const POLL_MS = 1000;
const BEAT_MS = 15_000;
/** Streams that are open at the same time, of all callers and of one. Behind an address may be an office, or a proxy of many. */
export const STREAM_PLACES = { name: "change streams", total: 500, perUser: 50, perAddress: 40 };

/** `/changes`: what changed, in order, as pages or as a stream of server-sent events that begins where the last one ended. */
export function addFeedRoutes(scope: FastifyInstance, context: CatalogueContext, announcer: ChangeAnnouncer): void {
  const streams = new Set<AbortController>();
  const places = context.limits.createPlaces(STREAM_PLACES);
  scope.addHook("preClose", (done) => {
    streams.forEach((stream) => stream.abort());
    done();
  });
  scope.get("/changes", async (request, reply) => {
    const follower = await readFollower(context, request);
    const reader = follower?.reader ?? (await context.readerOf(request));
    const { after = lastEventId(request), limit, collections, beat } = readSingle(request);
    const wantsStream = /\btext\/event-stream\b/.test(request.headers.accept ?? "");
    const position =
      after === undefined
        ? await (wantsStream ? readFeedEnd(context.pool) : { tx: "0", n: "0", i: 0 })
        : parsePosition(after);
    if (after !== undefined && !(await isRetained(context.pool, position))) {
      throw problem(
        410,
        "Gone",
        "Changes after this one are not kept any more; read the catalogue, then follow from now on.",
      );
    }
    const options = { reader, collections: narrowCollections(collections?.split(","), follower?.collections) };
    if (wantsStream) {
      const release = places.take({ user: follower?.name ?? reader.user, address: request.ip });
      const stop = new AbortController();
      streams.add(stop);
      stop.signal.addEventListener("abort", () => {
        streams.delete(stop);
        release();
      });
      releaseOnClose(reply.raw, () => stop.abort());
      const isAllowed = async (): Promise<boolean> =>
        follower === undefined || (await readFollower(context, request).catch(() => undefined)) !== undefined;
      return streamChanges(context, announcer, reply, {
        ...options,
        position,
        beatMs: parseBeat(beat),
        signal: stop.signal,
        isAllowed,
      });
    }
    const requested = parseLimit(limit, PAGE);
    const changes = await readChanges(context.pool, { ...options, after: position, limit: Math.min(requested, 1000) });
    const last = changes.at(-1);
    return sendJson(
      reply,
      JSON.stringify({
        changes: changes.map((change) => toCloudEvent(change, baseOf(request))),
        next: toPositionText(last?.position ?? position),
      }),
    );
  });
}

interface StreamOptions {
  readonly reader: Reader;
  readonly collections: readonly string[] | undefined;
  readonly position: FeedPosition;
  /** How often to say whether everything has been told; `undefined`: that is not asked for. */
  readonly beatMs: number | undefined;
  readonly signal: AbortSignal;
  /** Whether it still may be followed; asked from time to time. */
  readonly isAllowed: () => Promise<boolean>;
}

async function streamChanges(
  { pool, publicUrl }: CatalogueContext,
  announcer: ChangeAnnouncer,
  reply: FastifyReply,
  { reader, collections, position, beatMs, signal, isAllowed }: StreamOptions,
): Promise<FastifyReply> {
  reply.hijack();
  if (signal.aborted) {
    return reply;
  }
  const { raw } = reply;
  raw.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    "x-accel-buffering": "no",
  });
  // Who saw no change either goes on from here.
  raw.write(`retry: 2000\nid: ${toPositionText(position)}\n\n`);
  let after = position;
  let lastState = "";
  let lastWrite = Date.now();
  let lastCheck = Date.now();
  const waiter = createWaiter(announcer, signal);
  try {
    while (!signal.aborted) {
      const { changes, state } = await readNext(pool, { reader, collections, after }, beatMs !== undefined).catch(
        (error: unknown) => {
          reply.log.warn({ err: error }, "failed to read changes; retrying");
          return { changes: [], state: undefined };
        },
      );
      for (const change of changes) {
        const event = `id: ${toPositionText(change.position)}\nevent: ${change.operation}\ndata: ${JSON.stringify(toCloudEvent(change, publicUrl))}\n\n`;
        if (!raw.write(event)) {
          await waiter.drained(raw);
        }
        after = change.position;
        lastWrite = Date.now();
      }
      if (state !== undefined && (state !== lastState || Date.now() - lastWrite >= (beatMs ?? BEAT_MS))) {
        raw.write(`: ${state}\n\n`);
        lastState = state;
        lastWrite = Date.now();
      }
      if (Date.now() - lastWrite > BEAT_MS) {
        raw.write(": still here\n\n");
        lastWrite = Date.now();
      }
      if (Date.now() - lastCheck > BEAT_MS) {
        lastCheck = Date.now();
        if (!(await isAllowed())) {
          break;
        }
      }
      if (changes.length < PAGE) {
        await waiter.next();
      }
    }
  } finally {
    waiter.close();
    raw.end();
  }
  return reply;
}

interface NextChanges {
  readonly changes: readonly Change[];
  /** `current`: everything that was committed has been told. `behind`: some of it is held back by an older transaction. */
  readonly state: "current" | "behind" | undefined;
}

async function readNext(
  pool: CatalogueContext["pool"],
  options: Pick<StreamOptions, "reader" | "collections"> & { readonly after: FeedPosition },
  withState: boolean,
): Promise<NextChanges> {
  // First, so that what is committed in between does not count as told.
  const isBehind = withState && (await hasHeldBackChanges(pool));
  const changes = await readChanges(pool, { ...options, limit: PAGE });
  return { changes, state: withState && changes.length < PAGE ? (isBehind ? "behind" : "current") : undefined };
}

/** @throws {Problem} 400 for what is no number of seconds up to 15 */
function parseBeat(text: string | undefined): number | undefined {
  if (text === undefined) {
    return undefined;
  }
  if (!/^([1-9]|1[0-5])$/.test(text)) {
    throw badParameter("beat", "must be a whole number of seconds, 1 to 15");
  }
  return Number(text) * 1000;
}

/** Waits for the next announcement, or for a while. */
function createWaiter(announcer: ChangeAnnouncer, signal: AbortSignal) {
  let wake = (): void => {};
  let isRung = false;
  const stopListening = announcer.onAnnounced(() => {
    isRung = true;
    wake();
  });
  const onAbort = (): void => wake();
  signal.addEventListener("abort", onAbort);
  return {
    next: () =>
      new Promise<void>((resolve) => {
        if (isRung || signal.aborted) {
          isRung = false;
          resolve();
          return;
        }
        const timer = setTimeout(() => wake(), POLL_MS);
        wake = () => {
          clearTimeout(timer);
          isRung = false;
          resolve();
        };
      }),
    drained: (raw: FastifyReply["raw"]) =>
      new Promise<void>((resolve) => {
        if (signal.aborted) {
          resolve();
          return;
        }
        raw.once("drain", resolve);
        signal.addEventListener("abort", () => resolve(), { once: true });
      }),
    close: () => {
      stopListening();
      signal.removeEventListener("abort", onAbort);
    },
  };
}

function lastEventId(request: FastifyRequest): string | undefined {
  const id = request.headers["last-event-id"];
  if (Array.isArray(id)) {
    throw badParameter("Last-Event-ID", "occurs twice");
  }
  return id;
}
