import { openDatabase } from "@swath/postgres";
import { RasterPool } from "@swath/raster";
import { type Logger, type Settings, readList } from "@swath/service";
import { measureLoops, startPeriodic } from "@swath/work";

import { createCatalogueClient } from "../catalogue/client.ts";
import { createCatalogueWriter } from "../catalogue/writer.ts";
import type { workerSettings } from "../config.ts";
import { startTasks } from "../queue/start-tasks.ts";
import { runTask } from "../queue/run-task.ts";
import { createRegistrars } from "../registrars/index.ts";
import { openSources } from "../sources/sources.ts";
import { startDueHarvesters } from "../store/harvesters.ts";
import { deployCloudData } from "../harvest/cloud-data.ts";
import { toCloudData, toPeers, toStores } from "./sources-of.ts";

export interface Worker {
  readonly ready: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** How often harvesters that are due are looked for. */
const SCHEDULE_INTERVAL_MS = 1000;
const CACHE_BYTES = 32 * 2 ** 20;

/** A worker, put together from its settings; it works at once. */
export async function startWorker(
  settings: Settings<typeof workerSettings>,
  logger: Logger,
  reportWaiting: (reason: string | undefined) => void = () => {},
  metrics?: Parameters<typeof measureLoops>[0],
): Promise<Worker> {
  const { pool, check, close } = await openDatabase({
    url: settings.DATABASE_URL,
    schema: "registration",
    migrations: `${import.meta.dirname}/../migrations`,
    connections: 2 * settings.CONCURRENCY + 4,
    // A registration holds its records until the catalogue has taken them, and removals wait for it; no client waits here.
    parameters: { lock_timeout: "5min" },
    onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    onUnavailable: reportWaiting,
  });
  const sources = openSources({
    allowPrivate: readList(settings.ALLOW_PRIVATE),
    stores: toStores(settings),
    peers: toPeers(settings),
  });
  const client = createCatalogueClient({
    url: settings.CATALOGUE_URL,
    publicUrl: settings.CATALOGUE_PUBLIC_URL,
    secret: settings.CATALOGUE_SECRET,
  });
  const rasters = new RasterPool({
    threads: settings.RASTER_THREADS,
    cacheBytes: CACHE_BYTES,
    timeoutMs: 120_000,
    // What is written to the catalogue stays: a scene that was replaced a moment ago is read anew.
    maxUnverifiedMs: 0,
    onError: (error) => logger.error({ err: error }, "raster thread failed"),
  });
  const registrars = createRegistrars({
    pool,
    sources,
    client,
    writer: createCatalogueWriter({ pool, client }),
    rasters,
    ...(settings.DATA_ACCESS_PUBLIC_URL !== undefined && { dataAccessUrl: settings.DATA_ACCESS_PUBLIC_URL }),
    ...(settings.CLOUDDATA && { offeredBucket: readList(settings.CLOUDDATA_S3_BUCKETS)[0] ?? "eodata" }),
    ...(settings.PORTAL_PUBLIC_URL !== undefined && { portalUrl: settings.PORTAL_PUBLIC_URL }),
  });
  await deployCloudData(pool, toCloudData(settings));
  const stopping = new AbortController();
  const scheduler = await startPeriodic({
    everyMs: SCHEDULE_INTERVAL_MS,
    work: () => startDueHarvesters(pool),
    onError: (err) => logger.warn({ err }, "failed to start harvesters; trying again"),
  });
  const loop = await startTasks({
    pool,
    databaseUrl: settings.DATABASE_URL,
    logger,
    concurrency: settings.CONCURRENCY,
    retentionDays: settings.TASK_RETENTION_DAYS,
    run: (task) =>
      runTask({ pool, logger, registrarOf: (kind) => registrars.get(kind), stopping: stopping.signal }, task),
  });
  if (metrics !== undefined) {
    measureLoops(metrics, { tasks: loop });
  }
  return {
    ready: async () => {
      await check();
      await loop.ready();
    },
    close: async () => {
      await scheduler.stop();
      stopping.abort();
      await loop.stop();
      await rasters.close();
      await client.close();
      await sources.close();
      await close();
    },
  };
}
