import { createHmac } from "node:crypto";

import {
  createLogoutTokenVerifier,
  createTokenVerifier,
  openIssuer,
  readAdministrators,
  readAudiences,
} from "@swath/auth";
import { createOidcClient } from "@swath/auth/login";
import type { Logger, RunningService, Settings } from "@swath/service";
import { auditRequests, SettingsError, createSecretCheck } from "@swath/service";
import { CallerLimits, type MetricsRegistry } from "@swath/service/caller-limits";
import { createSealer } from "@swath/service/seal";
import { readyServer } from "@swath/service/fastify";
import { measureLoops } from "@swath/work";

import { createDelegates } from "./access/delegates.ts";
import { createLoginGuard } from "./access/login-guard.ts";
import type { CallerDeps } from "./access/caller.ts";
import { createRefreshTokens } from "./access/refresh-tokens.ts";
import { createSessions } from "./access/sessions.ts";
import { createRegistryTokens } from "./access/tokens.ts";
import { createApi } from "./api/api.ts";
import { createPullCounter } from "./background/pull-counter.ts";
import { startSchedule } from "./background/schedule.ts";
import type { BlobStore } from "./blobs/blob-store.ts";
import { openFileBlobStore } from "./blobs/file-blob-store.ts";
import type { settings as definitions } from "./config.ts";
import { createRegistryServer } from "./service.ts";
import { openRegistryDatabase } from "./store/database.ts";
import { createProjectFinder } from "./store/projects.ts";
import { createManifestReader } from "./store/manifest-reader.ts";
import { dropLeases } from "./store/uploads.ts";
import { startReplicating } from "./replication/run.ts";
import { createScannerClient } from "./scans/adapter.ts";
import { startScanning } from "./scans/scan.ts";
import { createCache } from "./upstreams/cache.ts";
import { createUpstreams } from "./upstreams/upstreams.ts";
import { createUploads } from "./uploads/uploads.ts";
import { startDeliveries } from "./webhooks/deliver.ts";
import { createWebhookSender } from "./webhooks/send-webhook.ts";

type RegistrySettings = Settings<typeof definitions>;

const MIN_TOKEN_SECRET_CHARACTERS = 32;
/** A layer each; a client sends about five at a time, a runner of builds many images. */
const UPLOAD_STARTS = { name: "uploads begun", perUser: 3000, perAddress: 3000, seconds: 60 };
const UPLOAD_PLACES = { name: "uploads", perUser: 100, perAddress: 50, total: 500 };

/** The whole service: database, blob store, server and the work in the background. */
export async function buildRegistry({
  settings,
  logger,
  metrics,
}: {
  readonly settings: RegistrySettings;
  readonly logger: Logger;
  readonly metrics?: MetricsRegistry;
}): Promise<RunningService> {
  if (settings.TOKEN_SECRET.length < MIN_TOKEN_SECRET_CHARACTERS) {
    throw new SettingsError([`TOKEN_SECRET must have ${MIN_TOKEN_SECRET_CHARACTERS} characters or more`]);
  }
  const database = await openRegistryDatabase(settings.DATABASE_URL, (error) =>
    logger.warn({ err: error }, "database connection lost"),
  );
  const blobs = await openBlobs(settings);
  if (settings.BLOBS === "volume") {
    // One process alone has the volume, so whoever was writing is gone.
    await dropLeases(database);
  }
  const issuer =
    settings.IDENTITY_ISSUER === undefined
      ? undefined
      : openIssuer({
          issuer: settings.IDENTITY_ISSUER,
          acceptIdTokens: settings.ACCEPT_ID_TOKENS,
          ...(settings.IDENTITY_INTERNAL_URL !== undefined && { peerUrl: settings.IDENTITY_INTERNAL_URL }),
        });
  const signing = { secret: settings.TOKEN_SECRET, service: new URL(settings.PUBLIC_URL).host };
  const adminPasswords = [settings.REGISTRY_ADMIN_PASSWORD, settings.REGISTRY_ADMIN_PASSWORD_ALSO].filter(
    (password) => password !== undefined,
  );
  const access: CallerDeps = {
    sql: database,
    adminPasswords,
    administrators: readAdministrators(settings),
    verifier: issuer && createTokenVerifier({ issuer }),
    audiences: ["registry", ...readAudiences(settings.ACCEPTED_AUDIENCES)],
    guard: createLoginGuard(),
    tokens: createRegistryTokens(signing),
    refreshTokens: createRefreshTokens({ sql: database, secret: settings.TOKEN_SECRET, adminPasswords }),
    findProject: createProjectFinder(database),
    delegates: createDelegates(signing),
    publicUrl: settings.PUBLIC_URL,
  };
  const onError = (error: unknown) => logger.error({ err: error }, "background work failed; retrying");
  const pushSeconds = settings.PUSH_RETENTION;
  const uploads = createUploads({ database, blobs, pushSeconds, onError });
  const pulls = createPullCounter(database);
  const manifests = createManifestReader(database);
  const allowPrivate = settings.ALLOW_PRIVATE.split(",").flatMap((entry) => entry.trim() || []);
  const upstreams = createUpstreams({
    sql: database,
    sealer: createSealer(settings.TOKEN_SECRET, "registry upstreams"),
    allowPrivate,
    onError,
  });
  const cache = createCache({ database, uploads, upstreams, freshSeconds: settings.CACHE_FRESHNESS, onError });
  const databaseUrl = settings.DATABASE_URL;
  const filling = await cache.startFilling(databaseUrl);
  const replicating = await startReplicating({ database, databaseUrl, blobs, uploads, upstreams, onError });
  const scanners = createScannerClient({
    allowPrivate,
    sealer: createSealer(settings.TOKEN_SECRET, "registry scanners"),
  });
  const scanning = await startScanning({
    database,
    databaseUrl,
    client: scanners,
    tokens: access.tokens,
    publicUrl: settings.PUBLIC_URL,
    onError,
  });
  const schedule = await startSchedule({
    database,
    databaseUrl,
    blobs,
    uploadSeconds: settings.UPLOAD_RETENTION,
    intervalSeconds: settings.COLLECT_INTERVAL,
    pulls,
    onError,
  });
  const sender = createWebhookSender(allowPrivate);
  const deliveries = await startDeliveries({ database, databaseUrl, sender, onError });
  if (metrics !== undefined) {
    measureLoops(metrics, { webhooks: deliveries, scans: scanning, replications: replicating, arrivals: filling });
  }
  const sessions = createSessions({
    sql: database,
    adminProof: createHmac("sha256", settings.TOKEN_SECRET)
      .update(settings.REGISTRY_ADMIN_PASSWORD)
      .digest("base64url"),
    publicUrl: settings.PUBLIC_URL,
  });
  const client = openLogin(settings);
  const app = await createApi({
    logger,
    database,
    access,
    sessions,
    blobs,
    upstreams,
    scanners,
    client,
    logoutTokens: issuer && createLogoutTokenVerifier({ issuer, clientId: settings.CONSOLE_CLIENT_ID }),
    isProcessingSecret:
      settings.PROCESSING_SECRET === undefined
        ? undefined
        : createSecretCheck(settings.PROCESSING_SECRET, settings.PROCESSING_SECRET_ALSO),
  });
  auditRequests(app, database.audit.note);
  await readyServer(app);
  const limits = new CallerLimits(metrics);
  const server = createRegistryServer(
    {
      uploadStarts: limits.createRate(UPLOAD_STARTS),
      uploadPlaces: limits.createPlaces(UPLOAD_PLACES),
      database,
      blobs,
      access,
      uploads,
      manifests,
      cache,
      pulls,
      redirects: settings.BLOB_REDIRECTS,
      pushSeconds,
      logger,
    },
    (message, response) => app.routing(message, response),
  );
  return {
    servers: { http: server },
    ready: async () => {
      await database.check();
      await blobs.check();
    },
    close: async () => {
      uploads.close();
      await upstreams.close();
      await filling.stop();
      await replicating.stop();
      await scanners.close();
      await scanning.stop();
      await schedule.stop();
      await deliveries.stop();
      await app.close();
      await client?.close();
      await issuer?.close();
      await blobs.close();
      await database.close();
    },
  };
}

/** People come by the platform's login where there is one. */
function openLogin({
  IDENTITY_ISSUER: issuer,
  IDENTITY_INTERNAL_URL: peerUrl,
  CONSOLE_CLIENT_ID: clientId,
}: RegistrySettings) {
  return issuer === undefined
    ? undefined
    : createOidcClient({ issuer, clientId, ...(peerUrl !== undefined && { peerUrl }) });
}

async function openBlobs(settings: RegistrySettings): Promise<BlobStore> {
  const { BLOBS, DATA_DIR, S3_URL: url, S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = settings;
  if (BLOBS === "volume") {
    if (DATA_DIR === undefined) {
      throw new SettingsError(["DATA_DIR is missing: it is needed where BLOBS is volume"]);
    }
    return openFileBlobStore(DATA_DIR);
  }
  if (url === undefined || accessKey === undefined || secretKey === undefined) {
    throw new SettingsError(["S3_URL, S3_ACCESS_KEY and S3_SECRET_KEY are needed where BLOBS is s3"]);
  }
  const { S3_PUBLIC_URL: publicUrl, S3_BUCKET: bucket, S3_REGION: region } = settings;
  // Only where it is used: the client takes 10 MB.
  const { openS3BlobStore } = await import("./blobs/s3-blob-store.ts");
  return openS3BlobStore({ url, publicUrl, bucket, region, accessKey, secretKey });
}
