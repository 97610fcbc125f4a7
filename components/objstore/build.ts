import { join } from "node:path";

import { type Issuer, createLogoutTokenVerifier, readAudiences } from "@swath/auth";
import { createOidcClient } from "@swath/auth/login";
import { openPool } from "@swath/postgres/pool";
import { type Logger, type RunningService, auditRequests } from "@swath/service";
import { FailureDelays } from "@swath/service/failure-delays";
import { readyServer } from "@swath/service/fastify";
import { addWebFiles } from "@swath/service/web";
import { Counter, Gauge, type Registry } from "prom-client";

import { endSessionsOfOldPassword } from "./access/root-password.ts";
import { createConsole } from "./admin/console.ts";
import { Damages } from "./background/damages.ts";
import { createDiskGuard } from "./background/disk-guard.ts";
import { EventDelivery, parseEventTargets } from "./background/event-delivery.ts";
import { AccessLogs } from "./background/access-logs.ts";
import { createAuditTrail } from "./background/audit-trail.ts";
import { addToAccessLog } from "./background/logged-request.ts";
import { shrinkIndex } from "./background/shrink-index.ts";
import { applyLifecycle } from "./background/lifecycle.ts";
import { RequestDurations } from "./background/request-durations.ts";
import { addSnapshotGauges } from "./background/snapshot-gauges.ts";
import { parseSnapshotSchedule, snapshotWhenDue } from "./background/snapshot-schedule.ts";
import { SnapshotWork } from "./background/snapshot-work.ts";
import { scrubWhenDue } from "./background/scrub-schedule.ts";
import { Scrub } from "./background/scrub.ts";
import type { ObjstoreSettings } from "./config.ts";
import { StalledRequests } from "./background/stalled.ts";
import { createS3Server } from "./service.ts";
import type { CrashPoints } from "./store/crash-points.ts";
import { Keyring } from "./store/encryption/keyring.ts";
import { moveWatermark } from "./store/recovery.ts";
import { isIndexWhole } from "./store/index/index-damage.ts";
import { rebuildIndex } from "./store/rebuild/rebuild-index.ts";
import { rewrapKeys } from "./store/encryption/rewrap-keys.ts";
import { type ObjectStore, openStore } from "./store/store.ts";
import { createAssumeRole } from "./sts/assume-role.ts";
import { addDefaultRoles } from "./sts/default-roles.ts";
import { createWebIdentityVerifier } from "./sts/verify-token.ts";

interface BuildContext {
  readonly settings: ObjstoreSettings;
  readonly logger: Logger;
  readonly metrics: Registry;
  readonly crash?: CrashPoints;
  /** How long a day of lifecycle rules is; tests cannot wait for one. */
  readonly lifecycleDayMs?: number;
  /** How often access logs of buckets are written. */
  readonly accessLogMs?: number;
}

const HOUR = 3600 * 1000;
const DAY = 24 * HOUR;
const SHRINK_INDEX_MS = 30_000;
/** How often the schedule of snapshots is looked at. */
const SNAPSHOT_MS = 60_000;
const ACCESS_LOG_MS = 5 * 60_000;
/** Space for deletes on a full disk. */
const RESERVED_SPACE_BYTES = 32 << 20;

/** The whole service: store, S3 server, console server and the work in the background. */
export async function buildObjstore(context: BuildContext): Promise<RunningService> {
  const { settings, logger, metrics, crash, lifecycleDayMs = DAY, accessLogMs = ACCESS_LOG_MS } = context;
  if (settings.OBJSTORE_REBUILD && !isIndexWhole(settings.DATA_DIR)) {
    logger.warn(await rebuildIndex(settings.DATA_DIR), "the index was made anew");
  }
  const store = await openStore({
    directory: settings.DATA_DIR,
    region: settings.OBJSTORE_REGION,
    reservedSpaceBytes: Math.min(RESERVED_SPACE_BYTES, (settings.OBJSTORE_RESERVED_MIB * 2 ** 20) / 4),
    ...(crash && { crash }),
    onFailure: (error) => {
      logger.fatal({ err: error }, error.message);
      process.exit(1);
    },
    onBackgroundError: (error) => logger.error({ err: error }, "deleting old content failed; it will be tried again"),
  });
  logger.info({ orphansDeleted: store.orphansDeleted }, "store is open");
  await endSessionsOfOldPassword(store.accounts, settings.OBJSTORE_ROOT_USER, settings.OBJSTORE_ROOT_PASSWORD);
  const disk = createDiskGuard(settings.DATA_DIR, settings.OBJSTORE_RESERVED_MIB * 2 ** 20);
  const damaged = new Counter({
    name: "objstore_damaged_total",
    help: "Damaged content found by the scrub or by a read",
    registers: [metrics],
  });
  const damages = new Damages(store, (damage) => {
    damaged.inc();
    logger.error({ damage }, "stored content is damaged");
  });
  const scrub = new Scrub(store, damages);
  const { IDENTITY_ISSUER: issuer } = settings;
  const identity =
    issuer === undefined
      ? undefined
      : createWebIdentityVerifier({
          issuer,
          peerUrl: settings.IDENTITY_INTERNAL_URL,
          acceptIdTokens: settings.ACCEPT_ID_TOKENS,
          audiences: readAudiences(settings.ACCEPTED_AUDIENCES),
        });
  const role =
    identity === undefined ? undefined : { accounts: store.accounts, verifyToken: identity.verify, now: store.now };
  if (identity !== undefined) {
    await addDefaultRoles(store.accounts);
  }
  const watch = (work: Promise<unknown>, what: string) =>
    work.catch((error: unknown) => logger.error({ err: error }, `${what} failed; it will be tried again`));
  const durations = new RequestDurations(metrics);
  addUsageGauges(metrics, () => store.buckets.list());
  const common = {
    store,
    rootUser: settings.OBJSTORE_ROOT_USER,
    rootPassword: settings.OBJSTORE_ROOT_PASSWORD,
    rootPasswordAlso: settings.OBJSTORE_ROOT_PASSWORD_ALSO,
    region: settings.OBJSTORE_REGION,
    publicUrl: settings.PUBLIC_URL,
    disk,
    failures: new FailureDelays(store.now),
  };
  const stalled = new StalledRequests();
  const stopping = new AbortController();
  const keyring = new Keyring(settings.OBJSTORE_ENCRYPTION_KEYS);
  const accessLogs = new AccessLogs({
    store,
    keyring,
    region: settings.OBJSTORE_REGION,
    onError: (error) => logger.error({ err: error }, "writing an access log of a bucket failed; its lines are lost"),
  });
  const eventTargets = parseEventTargets(
    settings.OBJSTORE_EVENT_TARGETS,
    settings.REGISTRATION_EVENTS_URL === undefined
      ? undefined
      : {
          address: `${settings.REGISTRATION_EVENTS_URL}/events`,
          ...(settings.REGISTRATION_EVENTS_SECRET !== undefined && { secret: settings.REGISTRATION_EVENTS_SECRET }),
        },
  );
  const sent = new Counter({
    name: "objstore_events_total",
    help: "Events of buckets by webhook and what became of them",
    labelNames: ["target", "status"],
    registers: [metrics],
  });
  const delivery = new EventDelivery({
    events: store.events,
    targets: eventTargets,
    logger,
    now: store.now,
    onSent: (target, status, count) => sent.inc({ target, status }, count),
  });
  // It may be away: what is noted waits, and nothing else does.
  const database = settings.AUDIT_DATABASE_URL;
  const trail =
    database === undefined
      ? undefined
      : await openPool({
          url: database,
          schema: "objstore",
          connections: 1,
          onError: (error) => logger.warn({ err: error }, "the audit trail is away"),
        });
  const audit = trail && createAuditTrail({ note: trail.audit.note, rootUser: settings.OBJSTORE_ROOT_USER });
  const server = createS3Server({
    ...common,
    stalled,
    keyring,
    eventTargets,
    signatureVersion2: settings.OBJSTORE_SIGNATURE_V2,
    defaultOwnership: settings.OBJSTORE_DEFAULT_OWNERSHIP,
    consoleOrigin: settings.CONSOLE_URL === undefined ? undefined : new URL(settings.CONSOLE_URL).origin,
    assumeRole: role && createAssumeRole(role),
    onDamage: (error) => void watch(damages.note(error.file, error.message), "noting damage"),
    onRequest: (entry) => {
      durations.observe(entry.operation, entry.status, entry.ms / 1000);
      addToAccessLog(accessLogs, entry, store.now());
      audit?.add(entry);
      if (entry.error !== undefined || logger.isLevelEnabled("debug")) {
        const { error, target, address: _, message: __, caller, errorCode, ...rest } = entry;
        // The query may hold a signature.
        const about = { ...rest, caller: caller?.name, errorCode, path: target.split("?", 1)[0] };
        if (error !== undefined) {
          logger.error({ ...about, err: error }, "request failed");
        } else {
          logger.debug(about, "request");
        }
      }
    },
  });
  const oldKeys = new Gauge({
    name: "objstore_encryption_old_keys",
    help: "1 while data keys may be encrypted by another key than the deployment's first, 0 when none is",
    registers: [metrics],
  });
  oldKeys.set(1);
  const rotation = watch(
    rotateKeys(store, keyring, { logger, signal: stopping.signal }).then((isDone) => oldKeys.set(isDone ? 0 : 1)),
    "changing the encryption key",
  );
  const snapshotWork = new SnapshotWork(store.now, (error) =>
    logger.error({ err: error }, "work on a snapshot failed"),
  );
  const { OBJSTORE_SNAPSHOTS } = settings;
  const snapshotSchedule = OBJSTORE_SNAPSHOTS === undefined ? undefined : parseSnapshotSchedule(OBJSTORE_SNAPSHOTS);
  addSnapshotGauges(metrics, store.snapshots);
  const login = openLogin(settings, identity);
  const app = createConsole({
    ...common,
    login,
    logger,
    scrub,
    damages,
    snapshots: { work: snapshotWork, schedule: OBJSTORE_SNAPSHOTS, signal: stopping.signal },
    role,
    secureCookies: settings.PUBLIC_URL.startsWith("https:"),
  });
  if (trail !== undefined) {
    auditRequests(app, trail.audit.note);
  }
  const s3 = [new URL(settings.PUBLIC_URL).origin];
  await addWebFiles(app, { directory: join(import.meta.dirname, "web/dist"), connect: s3, images: s3 });
  const maintain = async () => {
    await moveWatermark(store.index, store.files);
    await store.accounts.deleteExpiredKeys();
    await store.uploads.forgetCompleted();
    await delivery.maintain();
    await applyLifecycle(store, stopping.signal, lifecycleDayMs);
  };
  let shrinking: Promise<unknown> | undefined;
  const timers = [
    setInterval(() => void watch(maintain(), "maintenance"), Math.min(HOUR, lifecycleDayMs / 4)),
    setInterval(() => {
      const schedule = { signal: stopping.signal, interval: DAY, bytesPerSecond: 20 << 20 };
      void watch(scrubWhenDue(store, scrub, schedule), "the scrub");
    }, HOUR / 4),
    setInterval(() => void accessLogs.write(), accessLogMs),
    setInterval(() => {
      if (snapshotSchedule !== undefined) {
        snapshotWork.runUnlisted(() =>
          snapshotWhenDue(store.snapshots, snapshotSchedule, store.now(), stopping.signal),
        );
      }
    }, SNAPSHOT_MS),
    setInterval(() => {
      shrinking ??= watch(
        shrinkIndex(store.index, stopping.signal),
        "giving free pages of the index back to the disk",
      ).finally(() => {
        shrinking = undefined;
      });
    }, SHRINK_INDEX_MS),
    setInterval(() => {
      store.reservedSpace.restore();
      void watch(store.settings.write(), "copying the settings");
    }, 10_000),
  ];
  for (const timer of timers) {
    timer.unref();
  }
  return {
    servers: { http: server, console: await readyServer(app) },
    measuresRequests: true,
    close: async () => {
      stopping.abort();
      stalled.close();
      timers.forEach(clearInterval);
      await app.close();
      await rotation;
      await shrinking;
      await snapshotWork.settle();
      await accessLogs.write();
      await delivery.close();
      await identity?.close();
      await login?.client.close();
      audit?.close();
      await trail?.close();
      await store.close();
    },
  };
}

/** After a change of the deployment's key: data keys are encrypted by the new one, in the background. Tells whether all are. */
async function rotateKeys(
  store: ObjectStore,
  keyring: Keyring,
  { logger, signal }: { readonly logger: Logger; readonly signal: AbortSignal },
): Promise<boolean> {
  const report = await rewrapKeys(store, keyring, signal);
  if (report !== undefined && report.rewrapped > 0) {
    logger.info({ rewrapped: report.rewrapped, key: keyring.names[0] }, "encryption key changed");
  }
  for (const [key, objects] of report?.missing ?? []) {
    logger.error({ key, objects }, "objects cannot be read: their key is missing in OBJSTORE_ENCRYPTION_KEYS");
  }
  return !signal.aborted && (report?.missing.size ?? 0) === 0;
}

/** People come by the platform's login where there is one that can send them back. */
function openLogin(settings: ObjstoreSettings, identity: { readonly issuer: Issuer } | undefined) {
  const { IDENTITY_ISSUER: issuer, IDENTITY_INTERNAL_URL: peerUrl, CONSOLE_URL: url, CONSOLE_CLIENT_ID } = settings;
  return issuer === undefined || url === undefined || identity === undefined
    ? undefined
    : {
        client: createOidcClient({ issuer, clientId: CONSOLE_CLIENT_ID, ...(peerUrl !== undefined && { peerUrl }) }),
        logoutTokens: createLogoutTokenVerifier({ issuer: identity.issuer, clientId: CONSOLE_CLIENT_ID }),
        consoleUrl: url.replace(/\/+$/, ""),
      };
}

function addUsageGauges(
  metrics: Registry,
  list: () => readonly { name: string; bytes: number; objects: number }[],
): void {
  const registers = [metrics];
  for (const [name, help, read] of [
    ["objstore_bucket_bytes", "Bytes of all versions in a bucket", (bucket: { bytes: number }) => bucket.bytes],
    ["objstore_bucket_objects", "Keys in a bucket", (bucket: { objects: number }) => bucket.objects],
  ] as const) {
    const gauge: Gauge<"bucket"> = new Gauge({
      name,
      help,
      labelNames: ["bucket"],
      registers,
      collect: () => {
        gauge.reset();
        for (const bucket of list()) {
          gauge.set({ bucket: bucket.name }, (read as (each: typeof bucket) => number)(bucket));
        }
      },
    });
  }
}
