import { openListener } from "@swath/postgres";
import type { Logger } from "@swath/service";
import type { Kysely } from "kysely";
import { EventEmitter, once } from "node:events";

import { JOB_CHANNEL } from "../store/jobs.ts";
import { type JobStatus, isOpen } from "../store/job-states.ts";
import type { Tables } from "../store/tables.ts";

/** A job that has come to another status. */
export interface JobChange {
  readonly id: string;
  readonly status: JobStatus;
}

/** What the database tells of jobs, whoever changes them, on one connection. */
export interface JobChanges {
  /** Tells of each change, and by nothing when the connection was made (again) and some may have been missed. */
  readonly follow: (listener: (change: JobChange | undefined) => void) => void;
  /** Resolves when a job has ended, or when the signal says that it is enough. */
  readonly untilEnded: (id: string, signal: AbortSignal) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Milliseconds after which the database is asked: what is told while the connection is away is told to nobody. */
const FIRST_POLL_MS = 150;
const POLL_INTERVAL_MS = 1000;

export async function openJobChanges(db: Kysely<Tables>, url: string, logger: Logger): Promise<JobChanges> {
  const told = new EventEmitter();
  told.setMaxListeners(0);
  const followers: ((change: JobChange | undefined) => void)[] = [];
  const tell = (change: JobChange | undefined) => followers.forEach((follower) => follower(change));
  const listener = await openListener({
    url,
    channel: JOB_CHANNEL,
    onMessage: (text) => {
      const [id = "", status] = text.split(" ");
      tell({ id, status: status as JobStatus });
      if (!isOpen(status)) {
        told.emit(id);
      }
    },
    onConnect: () => tell(undefined),
    onError: (error) => logger.warn({ err: error }, "lost the connection that jobs are told on"),
  });
  const hasEnded = async (id: string): Promise<boolean> =>
    !isOpen((await db.selectFrom("job").select("status").where("id", "=", id).executeTakeFirst())?.status);
  return {
    follow: (follower) => void followers.push(follower),
    untilEnded: async (id, signal) => {
      // Most often it is told of soon enough, and nobody has to ask.
      for (let timeout = FIRST_POLL_MS; !signal.aborted; timeout = POLL_INTERVAL_MS) {
        const isTold = await once(told, id, { signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) }).then(
          () => true,
          () => false,
        );
        if (isTold || (!signal.aborted && (await hasEnded(id)))) {
          return;
        }
      }
    },
    close: listener.close,
  };
}
