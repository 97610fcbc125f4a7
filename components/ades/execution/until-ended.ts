import { openListener } from "@swath/postgres";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";
import { EventEmitter, once } from "node:events";

import { JOB_CHANNEL } from "../store/jobs.ts";
import type { Tables } from "../store/tables.ts";

interface Watcher {
  /** Resolves when a job has ended, or when the signal says that it is enough. */
  readonly untilEnded: (id: string, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Waits for jobs, told by the database, so that a synchronous request is answered the moment its job ends. */
export async function openWatcher(db: Kysely<Tables>, url: string, logger: Logger): Promise<Watcher> {
  const told = new EventEmitter();
  told.setMaxListeners(0);
  const listener = await openListener({
    url,
    channel: JOB_CHANNEL,
    onMessage: (id) => void told.emit(id),
    onConnect: () => {},
    onError: (error) => logger.warn({ err: error }, "lost the connection that jobs are told on"),
  });
  const hasEnded = async (id: string): Promise<boolean> => {
    const job = await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst();
    return job?.status !== "accepted" && job?.status !== "running";
  };
  return {
    untilEnded: async (id, signal) => {
      while (!signal.aborted && !(await hasEnded(id))) {
        // Asks again now and then, because what is told while the connection is away is told to nobody.
        await once(told, id, { signal: AbortSignal.any([signal, AbortSignal.timeout(1000)]) }).catch(() => {});
      }
    },
    close: listener.close,
  };
}
