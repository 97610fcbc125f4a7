import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

import { isInterrupted } from "@swath/postgres/pool";
import { Problem } from "@swath/service";
import type { FastifyInstance } from "fastify";
import type pg from "pg";

import { clientSignal } from "../http/client-signal.ts";
import type { CatalogueContext } from "../http/context.ts";
import { problem } from "../http/errors.ts";
import { readSingle } from "../http/parameters.ts";
import { inTransactionBetweenLoads, lockForLoading } from "../store/load-lock.ts";
import type { WriteMode } from "../store/record-keys.ts";
import { writeInTransaction, writePrepared } from "../store/write-records.ts";
import { enterForWriting } from "../stac/transactions.ts";
import { createLoadPlaces } from "./places.ts";
import { readWhileWaiting } from "./read-while-waiting.ts";
import { type Lines, takeLines } from "./take-lines.ts";

export const LINE_TYPES = ["application/x-ndjson", "application/ndjson", "application/geo+json-seq"] as const;
const MAX_BULK_BYTES = 32 * 2 ** 20;
/** Batches that are prepared while one is written. */
const MAX_AHEAD = 2;

/** Many items at once: `bulk_items`, and an item a line, of any number. All of a request are stored, or none. */
export function addBulkRoutes(scope: FastifyInstance, context: CatalogueContext): void {
  const { pool, loadPool, loadIdleMs, parts, prepareBatch } = context;
  const takePlace = createLoadPlaces(context.limits, loadPool.options.max);
  type Params = { Params: { collection: string } };
  void scope.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    raw.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    raw.post<Params>("/collections/:collection/bulk_items", { bodyLimit: MAX_BULK_BYTES }, async (request, reply) => {
      const { entry } = await enterForWriting(context, request, request.params.collection);
      const bytes = request.body as Buffer;
      const { records, method = "insert" } = await prepareBatch({ form: "bulk", bytes, collection: entry.id });
      await writePrepared(pool, records, {
        mode: method,
        collection: entry.key,
        route: parts.routeOf(entry.key),
        signal: clientSignal(reply),
      });
      context.announceChange();
      return reply.send({
        message: `Successfully ${method === "insert" ? "added" : "upserted"} ${records.length} items.`,
      });
    });
  });
  void scope.register(async (raw) => {
    raw.removeAllContentTypeParsers();
    // The stream itself: loads may be larger than memory.
    raw.addContentTypeParser([...LINE_TYPES], (_request, payload, done) => done(null, payload));
    raw.post<Params>("/collections/:collection/items.ndjson", async (request, reply) => {
      const { entry, reader } = await enterForWriting(context, request, request.params.collection);
      const { method = "insert" } = readSingle(request);
      if (method !== "insert" && method !== "upsert") {
        throw problem(400, "InvalidParameterValue", "The parameter method must be insert or upsert.");
      }
      const mode: WriteMode = method;
      const body = request.body as IncomingMessage;
      const signal = clientSignal(reply);
      const early = readWhileWaiting(body);
      const load = async (client: pg.PoolClient): Promise<number> => {
        // One load of a collection at a time: two that lock the same ids batch by batch would wait for each other.
        await lockForLoading(client, entry.key, "exclusive");
        const lines = takeLines(body, { idleMs: loadIdleMs, begin: early.stop() });
        let written = 0;
        for await (const { records, release } of prepareAhead(lines, (bytes, firstLine) =>
          prepareBatch({ form: "lines", bytes, collection: entry.id, firstLine }),
        )) {
          await writeInTransaction(client, records, { mode, collection: entry.key, route: parts.routeOf(entry.key) });
          release();
          written += records.length;
        }
        return written;
      };
      const loadInPlace = async (): Promise<number> => {
        const releasePlace = await takePlace(reader, request, signal);
        try {
          // Once: what was read of the body does not come again, and the rest alone would be half a load.
          return await inTransactionBetweenLoads(loadPool, load, { signal, isLoad: true });
        } finally {
          // Not when the client goes: the load holds its connection until the transaction has ended.
          releasePlace();
        }
      };
      const count = await loadInPlace()
        .finally(() => early.stop())
        .catch((error: unknown) => {
          // The rest is taken and thrown away, so that the client comes to read why; a listener, since the reader may still let go of it.
          body.on("data", () => {}).resume();
          if (body.destroyed && !body.complete) {
            throw new Problem(408, "The client went before it had sent its load.", { cause: error });
          }
          throw isInterrupted(error)
            ? new Problem(
                503,
                "Another writer of the same items was in the way, and nothing was loaded; send it again.",
                {
                  headers: { "retry-after": "1" },
                  cause: error,
                },
              )
            : error;
        });
      context.announceChange(count);
      return reply.code(201).send({ numberWritten: count });
    });
  });
}

/** Batches in their order, some of them read and prepared before they are asked for. */
function prepareAhead<T>(
  lines: AsyncIterable<Lines>,
  prepare: (bytes: Uint8Array, firstLine: number) => Promise<T>,
): AsyncIterable<T> {
  const batches = Readable.from(lines, { objectMode: true, highWaterMark: 1 });
  return batches.map(({ bytes, firstLine }: Lines) => prepare(bytes, firstLine), { concurrency: MAX_AHEAD });
}
