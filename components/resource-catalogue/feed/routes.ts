import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

import type { Reader } from "../access/reader.ts";
import { type CatalogueContext, baseOf } from "../http/context.ts";
import { badParameter, problem } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import { type FeedPosition, isRetained, readChanges, readFeedEnd } from "../store/changes.ts";
import { parseLimit } from "../stac/search-parameters.ts";
import { sendJson } from "../stac/respond.ts";
import type { Bell } from "./bell.ts";
import { toCloudEvent } from "./cloud-event.ts";
import { narrowCollections, readFollower } from "./keys.ts";
import { parsePosition, toPositionText } from "./position.ts";

const PAGE = 500;
/** Followers look by themselves at least this often, and are shown that the connection lives. */
const POLL_MS = 1000;
const BEAT_MS = 15_000;
/** Streams that are open at the same time. */
const MAX_STREAMS = 500;

/** `/changes`: what changed, in order, as pages or as a stream of server-sent events that begins where the last one ended. */
export function addFeedRoutes(scope: FastifyInstance, context: CatalogueContext, bell: Bell): void {
  const streams = new Set<AbortController>();
  scope.addHook("preClose", (done) => {
    streams.forEach((stream) => stream.abort());
    done();
  });
  scope.get("/changes", async (request, reply) => {
    const follower = await readFollower(context.pool, request);
    const reader = follower?.reader ?? (await context.readerOf(request));
    const { after = lastEventId(request), limit, collections } = readSingle(request);
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
      if (streams.size >= MAX_STREAMS) {
        throw problem(503, "Unavailable", `There are ${MAX_STREAMS} followers already; try again later.`);
      }
      const stop = new AbortController();
      streams.add(stop);
      request.raw.once("close", () => stop.abort());
      stop.signal.addEventListener("abort", () => streams.delete(stop));
      const isAllowed = async (): Promise<boolean> =>
        follower === undefined || (await readFollower(context.pool, request).catch(() => undefined)) !== undefined;
      return streamChanges(context, bell, reply, { ...options, position, signal: stop.signal, isAllowed });
    }
    const wanted = parseLimit(limit, PAGE);
    const changes = await readChanges(context.pool, { ...options, after: position, limit: Math.min(wanted, 1000) });
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
  readonly signal: AbortSignal;
  /** Whether it still may be followed; asked from time to time. */
  readonly isAllowed: () => Promise<boolean>;
}

async function streamChanges(
  { pool, publicUrl }: CatalogueContext,
  bell: Bell,
  reply: FastifyReply,
  { reader, collections, position, signal, isAllowed }: StreamOptions,
): Promise<FastifyReply> {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "access-control-allow-origin": "*",
    "x-accel-buffering": "no",
  });
  raw.write(`retry: 2000\n\n`);
  let after = position;
  let lastWrite = Date.now();
  let lastCheck = Date.now();
  const waiter = createWaiter(bell, signal);
  try {
    while (!signal.aborted) {
      const changes = await readChanges(pool, { reader, collections, after, limit: PAGE }).catch((error: unknown) => {
        reply.log.warn({ err: error }, "failed to read changes; retrying");
        return [];
      });
      for (const change of changes) {
        const event = `id: ${toPositionText(change.position)}\nevent: ${change.operation}\ndata: ${JSON.stringify(toCloudEvent(change, publicUrl))}\n\n`;
        if (!raw.write(event)) {
          await waiter.drained(raw);
        }
        after = change.position;
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

/** Waits for the bell, or for a while. */
function createWaiter(bell: Bell, signal: AbortSignal) {
  let wake = (): void => {};
  let isRung = false;
  const stopListening = bell.onRing(() => {
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
