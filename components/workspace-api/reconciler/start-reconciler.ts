import { type Claim, type Loop, type Queryable, startLoop } from "@swath/work";
import { randomUUID } from "node:crypto";

import { RENEW_MS, workspaceQueue } from "../store/claims.ts";
import { beat } from "../store/reconcilers.ts";
import { WORKSPACE_CHANNEL } from "../store/workspaces.ts";
import { type ReconcileDeps, reconcile } from "./reconcile.ts";

interface ReconcilerOptions extends ReconcileDeps {
  readonly pool: Queryable;
  readonly databaseUrl: string;
  /** Workspaces at once. */
  readonly concurrency: number;
}

const HEARTBEAT_MS = 10_000;

/** Works on every workspace that is due, and notes that this reconciler is at work. */
export async function startReconciler(options: ReconcilerOptions): Promise<Loop> {
  const { db, pool, logger, concurrency, databaseUrl } = options;
  const id = randomUUID();
  const heart = async () => {
    await beat(db, id).catch((error: unknown) =>
      logger.warn({ err: error }, "cannot note that the reconciler is at work"),
    );
  };
  await heart();
  const heartTimer = setInterval(() => void heart(), HEARTBEAT_MS);
  const loop = await startLoop<Claim<{ readonly name: string }>>({
    concurrency,
    listen: { url: databaseUrl, channel: WORKSPACE_CHANNEL },
    claim: ({ limit }) => workspaceQueue.claim(pool, limit),
    untilDue: () => workspaceQueue.untilDue(pool),
    renewMs: RENEW_MS,
    run: (claim, signal) => reconcile(options, claim, signal),
    onError: (err, claim) =>
      claim === undefined
        ? logger.warn({ err }, "cannot look for workspaces; trying again")
        : logger.error({ workspace: claim.row.name, err }, "cannot reconcile a workspace"),
  });
  return {
    ...loop,
    stop: async () => {
      clearInterval(heartTimer);
      await loop.stop();
    },
  };
}
