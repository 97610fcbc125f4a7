import type { FastifyReply, FastifyRequest } from "fastify";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

import { invalidQuery } from "../errors.ts";
import { listLog } from "../store/job-records.ts";
import type { ApiContext } from "./context.ts";

/** Milliseconds between looks at a log to which nothing was added. */
const PAUSE = 300;
/** Milliseconds after which a silent stream sends a comment, so that proxies keep it. */
const KEEP_ALIVE = 15_000;

/**
 * The log as server-sent events (HTML living standard §9.2), what is there first, until the job has ended and everything was
 * sent. A stream that broke goes on after its last event by `Last-Event-ID`.
 * @throws {OgcError} 400
 */
export async function followLog(
  { db, closing }: ApiContext,
  id: string,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  let after = readLastEvent(request);
  const { raw } = reply;
  const gone = new AbortController();
  raw.once("close", () => gone.abort());
  const signal = AbortSignal.any([gone.signal, closing]);
  reply.hijack();
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-accel-buffering": "no",
  });
  const send = async (text: string) => {
    if (!raw.write(text)) {
      await once(raw, "drain", { signal });
    }
  };
  try {
    await send("retry: 1000\n\n");
    let silentSince = Date.now();
    while (!signal.aborted) {
      // The status first: what a job that had ended by now has written is in the log read after it.
      const job = await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst();
      const lines = await listLog(db, id, after);
      for (const { id: line, step, text } of lines) {
        after = line;
        await send(`id: ${line}\nevent: log\ndata: ${JSON.stringify({ step, text })}\n\n`);
      }
      if (lines.length > 0) {
        silentSince = Date.now();
        continue;
      }
      if (job?.status !== "accepted" && job?.status !== "running") {
        await send(`event: end\ndata: ${JSON.stringify({ status: job?.status ?? "dismissed" })}\n\n`);
        break;
      }
      if (Date.now() - silentSince > KEEP_ALIVE) {
        await send(": still at work\n\n");
        silentSince = Date.now();
      }
      await sleep(PAUSE, undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) {
      request.log.warn({ err: error, job: id }, "a log could not be followed any longer");
    }
  } finally {
    raw.end();
  }
}

function readLastEvent(request: FastifyRequest): string {
  const text = String(request.headers["last-event-id"] ?? "").trim();
  if (text !== "" && !/^\d{1,18}$/.test(text)) {
    throw invalidQuery("Last-Event-ID", text, "the id of an event of this stream");
  }
  return text === "" ? "0" : text;
}
