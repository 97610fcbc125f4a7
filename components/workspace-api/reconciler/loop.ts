import { openListener } from "@swath/postgres";
import { randomUUID } from "node:crypto";

import { claimWorkspace, untilNextDue } from "../store/claims.ts";
import { beat } from "../store/reconcilers.ts";
import { WORKSPACE_CHANNEL } from "../store/workspaces.ts";
import { type ReconcileDeps, reconcile } from "./reconcile.ts";

interface LoopOptions extends ReconcileDeps {
  readonly databaseUrl: string;
  /** Workspaces at once. */
  readonly concurrency: number;
}

export interface Loop {
  /** Rejects with the reason while nothing can be reconciled. */
  readonly ready: () => Promise<void>;
  /** Takes nothing new and waits for what is under way. */
  readonly stop: () => Promise<void>;
}

const HEARTBEAT = 10_000;
/** Longest sleep: workspaces of a reconciler that died become due without anybody saying so. */
const MAX_SLEEP = 10_000;

/** Works on every workspace that is due, woken by changes of what is wanted and by time. */
export async function startLoop(options: LoopOptions): Promise<Loop> {
  const { db, logger, concurrency, databaseUrl } = options;
  const id = randomUUID();
  const running = new Set<Promise<void>>();
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let lastError: unknown;
  let pumping = false;
  let again = false;

  const pump = async () => {
    if (pumping || stopped) {
      again = true;
      return;
    }
    pumping = true;
    clearTimeout(timer);
    try {
      do {
        again = false;
        while (!stopped && running.size < concurrency) {
          const name = await claimWorkspace(db);
          if (name === undefined) {
            break;
          }
          const work = reconcile(options, name)
            .catch((error: unknown) => logger.error({ workspace: name, err: error }, "cannot reconcile a workspace"))
            .finally(() => {
              running.delete(work);
              void pump();
            });
          running.add(work);
        }
      } while (again && running.size < concurrency);
      lastError = undefined;
      timer = setTimeout(() => void pump(), Math.min(MAX_SLEEP, (await untilNextDue(db)) ?? MAX_SLEEP));
    } catch (error) {
      lastError = error;
      logger.warn({ err: error }, "the database does not answer; trying again");
      timer = setTimeout(() => void pump(), 1000);
    } finally {
      pumping = false;
    }
  };

  const heart = async () => {
    await beat(db, id).catch((error: unknown) =>
      logger.warn({ err: error }, "cannot note that the reconciler is at work"),
    );
  };
  await heart();
  const heartTimer = setInterval(() => void heart(), HEARTBEAT);
  const listener = await openListener({
    url: databaseUrl,
    channel: WORKSPACE_CHANNEL,
    onMessage: () => void pump(),
    onConnect: () => void pump(),
    onError: (error) => logger.warn({ err: error }, "lost the connection that changes are told on"),
  });
  return {
    ready: async () => {
      if (lastError !== undefined) {
        throw new Error("the database does not answer", { cause: lastError });
      }
    },
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      clearInterval(heartTimer);
      await listener.close();
      await Promise.all(running);
    },
  };
}
