import { type Claim, type Loop, drainQueue, startLoop } from "@swath/work";

import { INTERVAL_OF_SCHEDULE, dueReplications, findReplication } from "../store/replication.ts";
import {
  type ClaimedRun,
  RENEW_MS,
  type ReplicationTask,
  endReplicationRun,
  endTask,
  findOpenTask,
  insertRun,
  insertTasks,
  runQueue,
} from "../store/replication-runs.ts";
import { findUpstream } from "../store/upstreams.ts";
import { type Upstreams, explain } from "../upstreams/upstreams.ts";
import { type CopyDeps, type CopyResult, copyIn, copyOut } from "./copy.ts";
import { planReplication } from "./plan.ts";

export interface ReplicateOptions extends CopyDeps {
  readonly upstreams: Upstreams;
  readonly databaseUrl: string;
  readonly onError: (error: unknown) => void;
}

/** The run was stopped, or taken by another worker. */
class RunEnded extends Error {
  override readonly name = "RunEnded";
}

/** Asks for runs of the replications whose time has come. */
export async function startDueReplications(database: CopyDeps["database"]): Promise<void> {
  await drainQueue(dueReplications, database.pool, async ({ row: { id }, lease }) => {
    await database.transact((tx) => insertRun(tx, id, { reason: "scheduled", actor: "replication" }));
    await lease.end(`next_at = now() + ${INTERVAL_OF_SCHEDULE}`);
  });
}

/** Does what was asked for, one run after another. A run whose worker died is gone on with where it was. */
export function startReplicating(options: ReplicateOptions): Promise<Loop> {
  const { pool } = options.database;
  return startLoop<Claim<ClaimedRun>>({
    concurrency: 1,
    listen: { url: options.databaseUrl, channel: "registry_replication" },
    claim: ({ limit }) => runQueue.claim(pool, limit),
    untilDue: () => runQueue.untilDue(pool),
    renewMs: RENEW_MS,
    run: async (claim) => {
      try {
        await runTasks(options, claim);
        await endReplicationRun(claim.lease, undefined);
      } catch (error) {
        if (!(error instanceof RunEnded)) {
          await endReplicationRun(claim.lease, explain(error));
        }
      }
    },
    onError: options.onError,
  });
}

async function runTasks(options: ReplicateOptions, { row: run, lease }: Claim<ClaimedRun>): Promise<void> {
  const { database, upstreams } = options;
  const replication = await findReplication(database, run.replicationId);
  const upstream = replication && (await findUpstream(database, replication.upstreamId));
  if (replication === undefined || upstream === undefined) {
    throw new Error("the replication was deleted");
  }
  const opened = upstreams.open(upstream);
  if (!run.isPlanned) {
    await insertTasks(database, run.id, await planReplication(database, opened, replication));
  }
  const check = async () => {
    if (!(await lease.renew())) {
      throw new RunEnded();
    }
  };
  const { overrides, name } = replication;
  const actor = `replication ${name}`;
  const copy = (task: ReplicationTask): Promise<CopyResult> => {
    const { source, target, tag } = task;
    const one = { source, target, tag, overrides, actor, check };
    return replication.direction === "pull" ? copyIn(options, opened, one) : copyOut(options, opened, one);
  };
  await check();
  for (
    let task = await findOpenTask(database, run.id);
    task !== undefined;
    task = await findOpenTask(database, run.id)
  ) {
    const { position } = task;
    const result = await copy(task).catch((error: unknown) => {
      if (error instanceof RunEnded) {
        throw error;
      }
      return { state: "failed" as const, bytes: 0, said: explain(error) };
    });
    await endTask(database, run.id, { position, ...result });
    await check();
  }
}
