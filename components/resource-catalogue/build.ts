import { createCallerOf, createTokenVerifier, openIssuer, readAdministrators, readAudiences } from "@swath/auth";
import { type Logger, type Settings, auditRequests, createPeer, createSecretCheck } from "@swath/service";
import { CallerLimits, type MetricsRegistry } from "@swath/service/caller-limits";
import { createCollectionValidator, createItemValidator } from "@swath/stac/schema";
import { measureLoops } from "@swath/work";
import type { FastifyInstance } from "fastify";
import type { Server } from "node:http";

import { createInternalPort } from "./access/internal-port.ts";
import { createMembershipFinder, createOwnedFinder } from "./access/memberships.ts";
import { MAIN_COLLECTION } from "./access/reader.ts";
import { createReaderOf } from "./access/readers.ts";
import { createS3Signer } from "@swath/s3";
import type { AssetStorage } from "./assets/asset-storage.ts";
import { onlyWhatIsNeeded } from "./bulk/lenient.ts";
import { BatchThread } from "./bulk/batch-thread.ts";
import type { settings as definitions } from "./config.ts";
import { openChangeAnnouncer } from "./feed/change-announcer.ts";
import { startDeliveries } from "./feed/deliveries.ts";
import { createSourceFetcher } from "./http/fetch-source.ts";
import { createCatalogueService } from "./service.ts";
import { CollectionMemory } from "./store/collection-memory.ts";
import { CountMemory } from "./store/count-memory.ts";
import { openCatalogueDatabase } from "./store/database.ts";
import { GroupInserts } from "./store/group-inserts.ts";
import { ensureMainRecord } from "./store/main-collection.ts";
import { createViewLinks } from "./model/view-links.ts";
import { startMaintenance } from "./store/maintenance.ts";
import { PartMap } from "./store/partitions/part-map.ts";
import { startPartitioner } from "./store/partitions/partitioner.ts";
import { startQueryableIndexes } from "./store/queryable-indexes.ts";
import { RecordStatistics } from "./store/statistics.ts";
import { StatementNames } from "./store/statement-names.ts";

export interface BuiltCatalogue {
  readonly app: FastifyInstance;
  /** For services of the deployment; left out without a secret. */
  readonly createInternalServer?: () => Server;
  readonly check: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The service, put together from its settings. */
export async function buildCatalogue(
  settings: Settings<typeof definitions>,
  logger: Logger,
  metrics?: MetricsRegistry,
): Promise<BuiltCatalogue> {
  const { IDENTITY_ISSUER: issuerUrl, IDENTITY_INTERNAL_URL: identityUrl, WORKSPACE_SECRET: secret } = settings;
  const database = await openCatalogueDatabase({
    url: settings.DATABASE_URL,
    connections: settings.DATABASE_CONNECTIONS,
    searchTimeoutSeconds: settings.SEARCH_TIMEOUT_SECONDS,
    onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
  });
  const { pool, searchPool, loadPool } = database;
  await ensureMainRecord(pool, MAIN_COLLECTION, null);
  const issuer =
    issuerUrl === undefined
      ? undefined
      : openIssuer({
          issuer: issuerUrl,
          acceptIdTokens: settings.ACCEPT_ID_TOKENS,
          ...(identityUrl !== undefined && { peerUrl: identityUrl }),
        });
  const workspaces = settings.WORKSPACE_URL === undefined ? undefined : createPeer(settings.WORKSPACE_URL);
  const callerOf = createCallerOf({
    ...(issuer && { verifier: createTokenVerifier({ issuer }) }),
    audiences: ["resource-catalogue", ...readAudiences(settings.ACCEPTED_AUDIENCES)],
    administrators: readAdministrators(settings),
    isOpen: settings.AUTHENTICATION === "optional",
    allowsAnonymous: true,
    realm: "resource-catalogue",
    ...(settings.OPEN_HOST !== undefined && { openHost: settings.OPEN_HOST.toLowerCase() }),
  });
  const isLenient = settings.VALIDATION === "lenient";
  const thread = new BatchThread(isLenient);
  const warn = (error: Error): void => logger.warn({ err: error }, "failed to tell of changes; retrying");
  const announcer = await openChangeAnnouncer({ pool, url: settings.DATABASE_URL, onError: warn });
  const counts = new CountMemory();
  announcer.onAnnounced(() => counts.forget());
  const deliveries = await startDeliveries({ pool, announcer, publicUrl: settings.PUBLIC_URL, onError: warn });
  if (metrics !== undefined) {
    measureLoops(metrics, { subscriptions: deliveries });
  }
  const maintenance = startMaintenance({
    pool,
    changeRetentionDays: settings.CHANGE_RETENTION_DAYS,
    onError: (error) => logger.warn({ err: error }, "maintenance failed; retrying"),
  });
  const indexes = startQueryableIndexes({
    pool,
    onError: (error) => logger.warn({ err: error }, "failed to update the indexes of queryables; retrying"),
  });
  const parts = new PartMap(pool, (error) => logger.warn({ err: error }, "failed to read the partitions; retrying"));
  await parts.refresh();
  const partitioner = startPartitioner({
    pool,
    parts,
    size: settings.PARTITION_RECORDS,
    onDivided: indexes.wake,
    onError: (error) => logger.warn({ err: error }, "failed to divide large collections; retrying"),
  });
  const internal =
    settings.INTERNAL_SECRET === undefined
      ? undefined
      : createInternalPort({
          isOperator: createSecretCheck(settings.INTERNAL_SECRET, settings.INTERNAL_SECRET_ALSO),
          isDelegate: createSecretCheck(settings.DELEGATE_SECRET, settings.DELEGATE_SECRET_ALSO),
        });
  /** Records that were written since the partitions were looked at. */
  let unlooked = 0;
  const app = await createCatalogueService(logger, {
    pool,
    searchPool,
    loadPool,
    loadIdleMs: settings.LOAD_IDLE_SECONDS * 1000,
    inserts: new GroupInserts(pool),
    collections: new CollectionMemory(),
    names: new StatementNames(),
    counts,
    parts,
    statistics: new RecordStatistics(pool, (error) => logger.warn({ err: error }, "failed to read statistics")),
    readerOf: createReaderOf({
      callerOf,
      hasLogins: issuer !== undefined,
      ...(internal && { internalCallerOf: internal.callerOf }),
      ...(workspaces &&
        secret !== undefined && {
          findMemberships: createMembershipFinder(workspaces, secret),
          findOwned: createOwnedFinder(workspaces, secret),
        }),
      service: new URL(settings.PUBLIC_URL).hostname.split(".")[0] ?? "resource-catalogue",
      ...(settings.PLATFORM_DOMAIN !== undefined && { domain: settings.PLATFORM_DOMAIN }),
    }),
    // Made at the start: loading them with the first write would stall other requests for half a second.
    validateItem: isLenient ? onlyWhatIsNeeded : createItemValidator(),
    validateCollection: createCollectionValidator(),
    prepareBatch: (batch) => thread.prepare(batch),
    countUpTo: settings.MATCHED_CAP,
    harvestCount: { countUpTo: settings.HARVEST_MATCHED_CAP, estimatesBeyond: true },
    publicUrl: settings.PUBLIC_URL,
    viewLinks: createViewLinks(settings.DATA_ACCESS_PUBLIC_URL),
    fetchSource: createSourceFetcher(settings.HARVEST_ALLOW_PRIVATE.split(",").flatMap((entry) => entry.trim() || [])),
    assetStorage: toAssetStorage(settings),
    announceChange: (records = 1) => {
      counts.forget();
      announcer.announce();
      maintenance.noteLoaded(records);
      if ((unlooked += records) >= settings.PARTITION_RECORDS / 4) {
        unlooked = 0;
        partitioner.wake();
      }
    },
    announcer,
    limits: new CallerLimits(metrics),
    wakeIndexes: indexes.wake,
    isServiceFeedKey: createSecretCheck(settings.FEED_KEY, settings.FEED_KEY_ALSO),
    wakeDeliveries: deliveries.wake,
  });
  auditRequests(app, database.audit.note);
  return {
    app,
    ...(internal && { createInternalServer: () => internal.createServer(app) }),
    check: database.check,
    close: async () => {
      await app.close();
      await maintenance.close();
      await indexes.close();
      await partitioner.close();
      await deliveries.stop();
      await announcer.close();
      await thread.close();
      await issuer?.close();
      await workspaces?.close();
      await database.close();
    },
  };
}

function toAssetStorage(settings: Settings<typeof definitions>): AssetStorage | undefined {
  const {
    S3_PUBLIC_URL: endpoint,
    S3_REGION: region,
    S3_ACCESS_KEY: accessKeyId,
    S3_SECRET_KEY: secretAccessKey,
  } = settings;
  return endpoint === undefined || accessKeyId === undefined || secretAccessKey === undefined
    ? undefined
    : { endpoint, signer: createS3Signer({ accessKeyId, secretAccessKey, region }) };
}
