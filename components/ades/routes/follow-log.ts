import type { FastifyReply, FastifyRequest } from "fastify";

import { invalidQuery } from "../errors.ts";
import { listLog } from "../store/job-records.ts";
import { isOpen } from "../store/job-states.ts";
import type { ApiContext } from "./context.ts";
import { sendEvents } from "./event-stream.ts";

/** Milliseconds between looks at a log to which nothing was added. */
const PAUSE = 300;

/**
 * The log as server-sent events, what is there first, until the job has ended and everything was sent. A stream that broke goes on
 * after its last event by `Last-Event-ID`.
 * @throws {OgcError} 400
 */
export async function followLog(
  { db, streams, closing }: ApiContext,
  { id: job, owner: user }: { readonly id: string; readonly owner: string },
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  let after = readLastEvent(request);
  await sendEvents(request, reply, { streams, user, closing }, async ({ signal, send, pause }) => {
    while (!signal.aborted) {
      // The status first: what a job that had ended by now has written is in the log read after it.
      const row = await db.selectFrom("job").select("status").where("id", "=", job).executeTakeFirst();
      const lines = await listLog(db, job, after);
      for (const { id: line, step, text } of lines) {
        after = line;
        await send("log", { step, text }, line);
      }
      if (lines.length > 0) {
        continue;
      }
      if (!isOpen(row?.status)) {
        await send("end", { status: row?.status ?? "dismissed" });
        return;
      }
      await pause(PAUSE);
    }
  });
}

function readLastEvent(request: FastifyRequest): string {
  const text = String(request.headers["last-event-id"] ?? "").trim();
  if (text !== "" && !/^\d{1,18}$/.test(text)) {
    throw invalidQuery("Last-Event-ID", text, "the id of an event of this stream");
  }
  return text === "" ? "0" : text;
}
