import { type Lease, createQueue } from "@swath/work";
import { type Kysely, type Selectable, sql } from "kysely";

import type { BucketMade, Tables } from "./tables.ts";

/** What somebody asks for. */
export interface BucketSpec {
  readonly name: string;
  readonly bucketName: string;
  readonly secretName: string | null;
  readonly secretNamespace: string | null;
  readonly withKeys: boolean;
  readonly removal: "retain" | "delete";
  /** Namespace of the Bucket resource; null for the API. */
  readonly namespace: string | null;
}

export interface Bucket extends BucketSpec {
  readonly phase: "active" | "deleting" | "kept";
  readonly generation: number;
  readonly observedGeneration: number;
  readonly made: BucketMade;
  readonly condition: Condition;
  readonly changedAt: Date;
  readonly attempts: number;
  readonly createdAt: Date;
}

export interface Condition {
  readonly ready: boolean;
  /** A word for programs, as in conditions of Kubernetes. */
  readonly reason: string;
  readonly message: string;
}

/** Announced at every change of what is asked for. */
export const BUCKET_CHANNEL = "bucket_change";

/** An operator that died gives its buckets up after this. */
const LEASE_SECONDS = 120;
export const RENEW_MS = 30_000;

/** Buckets that are to be looked at, the one that has waited longest first. */
export const bucketQueue = createQueue<Selectable<Tables["bucket"]>>({
  table: "bucket",
  key: ["name"],
  isOpen: "q.phase <> 'kept'",
  leaseUntil: "lease_until",
  leaseSeconds: LEASE_SECONDS,
});

/** The name or the bucket is somebody else's. */
export class BucketTaken extends Error {
  override readonly name = "BucketTaken";
}

/** Writes down what is asked for. The same again changes nothing. @throws {BucketTaken} */
export async function putBucket(db: Kysely<Tables>, spec: BucketSpec): Promise<Bucket> {
  const values = toColumns(spec);
  try {
    const { rows } = await sql<Selectable<Tables["bucket"]>>`
      insert into bucket ${sql.raw(`(${Object.keys(values).join(", ")})`)} values (${sql.join(Object.values(values))})
      on conflict (name) do update set
        bucket_name = excluded.bucket_name, secret_name = excluded.secret_name,
        secret_namespace = excluded.secret_namespace, with_keys = excluded.with_keys, removal = excluded.removal,
        phase = 'active', generation = bucket.generation + 1, next_at = now(), attempts = 0,
        ready = false, reason = 'Pending', message = '', changed_at = now()
      where bucket.namespace is not distinct from excluded.namespace
        and (bucket.bucket_name, bucket.secret_name, bucket.secret_namespace, bucket.with_keys, bucket.removal, bucket.phase)
          is distinct from (excluded.bucket_name, excluded.secret_name, excluded.secret_namespace, excluded.with_keys,
            excluded.removal, 'active')
        and bucket.phase <> 'deleting' and (bucket.bucket_name = excluded.bucket_name)
      returning *`.execute(db);
    if (rows[0] !== undefined) {
      await announce(db, spec.name);
    }
  } catch (error) {
    if ((error as { code?: string }).code === "23505") {
      throw new BucketTaken(`bucket ${spec.bucketName} is that of another resource`, { cause: error });
    }
    throw error;
  }
  const bucket = await findBucket(db, spec.name);
  if (bucket === undefined || bucket.phase === "deleting") {
    throw new BucketTaken(`${spec.name} is being deleted; ask again when it is gone`);
  }
  if (bucket.namespace !== spec.namespace) {
    throw new BucketTaken(
      bucket.namespace === null
        ? `${spec.name} was asked for by the API`
        : `${spec.name} is a Bucket resource in namespace ${bucket.namespace}`,
    );
  }
  if (bucket.bucketName !== spec.bucketName) {
    throw new BucketTaken(`the bucket of ${spec.name} is ${bucket.bucketName}; it cannot be renamed`);
  }
  return bucket;
}

/** Asks for the end of a bucket. False where there is none. */
export async function deleteBucket(
  db: Kysely<Tables>,
  name: string,
  namespace: string | null,
  removal?: "retain" | "delete",
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("bucket")
    .set({
      phase: "deleting",
      generation: sql`generation + 1`,
      next_at: sql`now()`,
      attempts: 0,
      ...(removal !== undefined && { removal }),
    })
    .where("name", "=", name)
    .where("phase", "<>", "deleting")
    .where(sql<boolean>`namespace is not distinct from ${namespace}`)
    // One that was kept is asked for again only to have its data deleted.
    .where((eb) => eb.or([eb("phase", "=", "active"), sql<boolean>`${removal ?? "retain"} = 'delete'`]))
    .executeTakeFirst();
  if (numUpdatedRows > 0n) {
    await announce(db, name);
  }
  return numUpdatedRows > 0n;
}

export async function findBucket(db: Kysely<Tables>, name: string): Promise<Bucket | undefined> {
  const row = await db.selectFrom("bucket").selectAll().where("name", "=", name).executeTakeFirst();
  return row && toBucket(row);
}

const MAX_LISTED = 10_000;

export async function listBuckets(
  db: Kysely<Tables>,
  filter: { readonly bucketName?: string | undefined; readonly ofKubernetes?: boolean } = {},
): Promise<readonly Bucket[]> {
  let query = db.selectFrom("bucket").selectAll().where("phase", "<>", "kept").orderBy("name").limit(MAX_LISTED);
  if (filter.bucketName !== undefined) {
    query = query.where("bucket_name", "=", filter.bucketName);
  }
  if (filter.ofKubernetes === true) {
    query = query.where("namespace", "is not", null);
  }
  return (await query.execute()).map(toBucket);
}

/** How many buckets are in which state, for metrics. */
export async function countBuckets(db: Kysely<Tables>): Promise<readonly { reason: string; count: number }[]> {
  const rows = await db
    .selectFrom("bucket")
    .select(["reason", (eb) => eb.fn.countAll<string>().as("count")])
    .where("phase", "<>", "kept")
    .groupBy("reason")
    .execute();
  return rows.map(({ reason, count }) => ({ reason, count: Number(count) }));
}

/** Keeps what was made; a crash after this loses nothing. */
export async function saveMade(db: Kysely<Tables>, name: string, made: BucketMade): Promise<void> {
  await db
    .updateTable("bucket")
    .set({ state: JSON.stringify(made) })
    .where("name", "=", name)
    .execute();
}

interface Release {
  readonly condition: Condition;
  /** Seconds until the next look. */
  readonly nextIn: number;
  readonly attempts: number;
}

/** Gives a bucket back after a look; what was asked for meanwhile comes at once. */
export async function releaseBucket(
  lease: Lease,
  generation: number,
  { condition: { ready, reason, message }, nextIn, attempts }: Release,
): Promise<void> {
  await lease.end(
    `attempts = $1, ready = $2, reason = $3, message = $4,
     changed_at = case when ready = $2 and reason = $3 then changed_at else now() end,
     observed_generation = case when $2 then greatest(observed_generation, $5) else observed_generation end,
     next_at = case when generation = $5 then now() + make_interval(secs => $6) else now() end`,
    [attempts, ready, reason, message, generation, nextIn],
  );
}

/** The end of a deletion: forgotten, or remembered as the owner of data that were kept. */
export async function finishDeletion(db: Kysely<Tables>, bucket: Bucket): Promise<void> {
  if (bucket.removal === "delete") {
    await db.deleteFrom("bucket").where("name", "=", bucket.name).where("phase", "=", "deleting").execute();
    return;
  }
  await db
    .updateTable("bucket")
    .set({ phase: "kept", lease_until: null, ready: false, reason: "Kept", message: "" })
    .where("name", "=", bucket.name)
    .where("phase", "=", "deleting")
    .execute();
}

async function announce(db: Kysely<Tables>, name: string): Promise<void> {
  await sql`select pg_notify(${BUCKET_CHANNEL}, ${name})`.execute(db);
}

const toColumns = (spec: BucketSpec) => ({
  name: spec.name,
  bucket_name: spec.bucketName,
  secret_name: spec.secretName,
  secret_namespace: spec.secretNamespace,
  with_keys: spec.withKeys,
  removal: spec.removal,
  namespace: spec.namespace,
});

export const toBucket = (row: Selectable<Tables["bucket"]>): Bucket => ({
  name: row.name,
  bucketName: row.bucket_name,
  secretName: row.secret_name,
  secretNamespace: row.secret_namespace,
  withKeys: row.with_keys,
  removal: row.removal,
  namespace: row.namespace,
  phase: row.phase,
  generation: Number(row.generation),
  observedGeneration: Number(row.observed_generation),
  made: row.state,
  condition: { ready: row.ready, reason: row.reason, message: row.message },
  changedAt: row.changed_at,
  attempts: row.attempts,
  createdAt: row.created_at,
});
