import { openAccount } from "@swath/kubernetes/account";
import { openClusterApi } from "@swath/kubernetes/api";
import { openDatabase } from "@swath/postgres";
import {
  type Logger,
  type RunningService,
  type Settings,
  createPeer,
  createSecretCheck,
  readyOnce,
} from "@swath/service";
import { readyServer } from "@swath/service/fastify";
import { createObjstoreAdmin, emptyBucket, withStorageClient } from "@swath/storage-admin";
import { measureLoops } from "@swath/work";
import type { Registry } from "prom-client";

import type { settings as definitions } from "./config.ts";
import { followBuckets } from "./kubernetes/follow.ts";
import { createBucketSecrets } from "./kubernetes/secrets.ts";
import { measureBuckets } from "./metrics.ts";
import { startReconciler } from "./reconciler/start-reconciler.ts";
import { createBucketApi } from "./service.ts";
import type { BucketStorage } from "./storage/bucket-storage.ts";
import { createObjstoreStorage } from "./storage/objstore.ts";
import { createOpenStackStorage } from "./storage/openstack/openstack.ts";
import type { Tables } from "./store/tables.ts";

type OperatorSettings = Settings<typeof definitions>;

interface BuildOptions {
  readonly settings: OperatorSettings;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly reportWaiting?: (reason: string | undefined) => void;
}

/** Opens the database and puts the operator together: API, reconciler, follower of Bucket resources. */
export async function buildBucketOperator({
  settings,
  logger,
  metrics,
  reportWaiting,
}: BuildOptions): Promise<RunningService> {
  const storage = openStorage(settings);
  const checkStorage = readyOnce(storage.check);
  const { db, pool, check, close } = await openDatabase<Tables>({
    url: settings.DATABASE_URL,
    schema: "bucket_operator",
    migrations: `${import.meta.dirname}/migrations`,
    connections: settings.CONCURRENCY + 4,
    onError: (error) => logger.warn({ err: error }, "an idle database connection broke"),
    ...(reportWaiting && { onUnavailable: reportWaiting }),
  });
  measureBuckets(metrics, db);
  const api = settings.WATCH_RESOURCES
    ? openClusterApi(openAccount(settings.KUBERNETES_ACCOUNT, settings.KUBERNETES_API))
    : undefined;
  const follower = api && followBuckets({ api, db, logger, group: settings.RESOURCE_GROUP });
  const loop = await startReconciler({
    db,
    pool,
    storage,
    secrets: api && createBucketSecrets(api, settings.SECRETS_ROLE),
    logger,
    interval: settings.RECONCILE_INTERVAL,
    databaseUrl: settings.DATABASE_URL,
    concurrency: settings.CONCURRENCY,
    ...(follower && { onLooked: follower.report }),
  });
  measureLoops(metrics, { buckets: loop });
  const app = await createBucketApi({
    logger,
    db,
    isSecret: createSecretCheck(settings.API_SECRET, settings.API_SECRET_ALSO),
    metrics,
  });
  return {
    servers: { http: await readyServer(app) },
    ready: async () => {
      await check();
      await checkStorage();
    },
    close: async () => {
      await loop.stop();
      await follower?.stop();
      await app.close();
      await storage.close();
      await api?.close();
      await close();
    },
  };
}

/** The cloud where one is named, else the platform's own object storage. @throws {Error} naming what is missing */
function openStorage(settings: OperatorSettings): BucketStorage {
  const { CLOUD_IDENTITY_URL: url, S3_REGION: region } = settings;
  if (url !== undefined) {
    const demand = (name: "CLOUD_DOMAINNAME" | "CLOUD_USERNAME" | "CLOUD_PASSWORD" | "CLOUD_MEMBERROLEID") => {
      const value = settings[name];
      if (value === undefined) {
        throw new Error(`${name} is missing: CLOUD_IDENTITY_URL names a cloud, which needs it`);
      }
      return value;
    };
    return createOpenStackStorage({
      url,
      region,
      domain: demand("CLOUD_DOMAINNAME"),
      username: demand("CLOUD_USERNAME"),
      password: demand("CLOUD_PASSWORD"),
      memberRole: demand("CLOUD_MEMBERROLEID"),
      serviceProject: settings.CLOUD_SERVICEPROJECTID,
      emailPattern: settings.USER_EMAIL_PATTERN,
      s3Url: settings.CLOUD_S3_URL ?? new URL(url).origin,
    });
  }
  const {
    OBJSTORE_ADMIN_URL: adminUrl,
    OBJSTORE_URL: s3,
    OBJSTORE_ROOT_USER: user,
    OBJSTORE_ROOT_PASSWORD: password,
  } = settings;
  if (adminUrl === undefined || s3 === undefined || user === undefined || password === undefined) {
    throw new Error(
      "neither CLOUD_IDENTITY_URL names a cloud, nor OBJSTORE_ADMIN_URL, OBJSTORE_URL, OBJSTORE_ROOT_USER and OBJSTORE_ROOT_PASSWORD an object storage",
    );
  }
  const peer = createPeer(adminUrl);
  return createObjstoreStorage({
    admin: createObjstoreAdmin({ peer, user, password }),
    empty: (bucket) => withStorageClient({ url: s3, region, user, password }, (client) => emptyBucket(client, bucket)),
    close: () => peer.close(),
  });
}
