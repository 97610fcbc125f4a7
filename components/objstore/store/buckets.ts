import { S3Error } from "../errors.ts";
import type { IndexDatabase } from "./index/index-database.ts";
import { ReadCache } from "./index/read-cache.ts";
import type { Bucket, Ownership } from "./rows.ts";

type BucketSetting =
  | "versioning"
  | "policy"
  | "cors"
  | "lifecycle"
  | "tags"
  | "access_block"
  | "quota_bytes"
  | "ownership"
  | "acl"
  | "object_lock"
  | "encryption"
  | "payer"
  | "logging"
  | "notification"
  | "website";

export interface NewBucket {
  readonly owner: string;
  readonly account?: string | undefined;
  readonly ownership?: Ownership | undefined;
  readonly acl?: string | undefined;
  /** With Object Lock, and so with versions from the beginning. */
  readonly locks?: boolean | undefined;
}

/** Buckets and their settings and usage. */
export class Buckets {
  readonly #index: IndexDatabase;
  /** One request looks its bucket up several times. */
  readonly #byName: ReadCache<string, Bucket | undefined>;
  readonly #byId: ReadCache<number, Bucket | undefined>;

  constructor(index: IndexDatabase) {
    this.#index = index;
    this.#byName = new ReadCache(index, 1000);
    this.#byId = new ReadCache(index, 1000);
  }

  find(name: string): Bucket | undefined {
    return this.#byName.get(name, () => this.#index.get<Bucket>("select * from buckets where name = ?", name));
  }

  /** @throws {S3Error} NoSuchBucket */
  get(name: string): Bucket {
    const bucket = this.find(name);
    if (bucket === undefined) {
      throw new S3Error("NoSuchBucket", undefined, { details: { BucketName: name } });
    }
    return bucket;
  }

  /** All buckets in the order of their names; not those that are being restored, whose names begin with a dot. */
  list(): Bucket[] {
    return this.#index.all<Bucket>("select * from buckets where name not like '.%' order by name");
  }

  /** Names a bucket anew, inside `mutate`: requests that were under way go on with it. */
  rename({ id, name }: Pick<Bucket, "id" | "name">, newName: string): void {
    this.#index.run("update buckets set name = ? where id = ?", newName, id);
    this.#byName.forget(name);
    this.#byName.forget(newName);
    this.#byId.forget(id);
  }

  /** @throws {S3Error} BucketAlreadyOwnedByYou or BucketAlreadyExists */
  create(name: string, bucket: string | NewBucket, now: number): Promise<Bucket> {
    return this.#index.mutate(() => this.insert(name, bucket, now));
  }

  /** `create` inside a `mutate` of the caller. */
  insert(name: string, bucket: string | NewBucket, now: number): Bucket {
    const {
      owner,
      account = "",
      ownership,
      acl,
      locks,
    }: NewBucket = typeof bucket === "string" ? { owner: bucket } : bucket;
    const existing = this.find(name);
    if (existing !== undefined) {
      throw new S3Error(existing.owner === owner ? "BucketAlreadyOwnedByYou" : "BucketAlreadyExists", undefined, {
        details: { BucketName: name },
      });
    }
    this.#index.run(
      "insert into buckets (name, owner, created, account, ownership, acl, versioning, object_lock) values (?, ?, ?, ?, ?, ?, ?, ?)",
      name,
      owner,
      now,
      account,
      ownership ?? "BucketOwnerEnforced",
      acl ?? null,
      locks === true ? "Enabled" : "",
      locks === true ? "{}" : null,
    );
    return this.get(name);
  }

  /** @throws {S3Error} BucketNotEmpty while a version or a delete marker is left */
  checkEmpty({ id, name }: Bucket): void {
    const used = this.#index.get("select 1 from versions where bucket = ? limit 1", id);
    if (used !== undefined) {
      throw new S3Error("BucketNotEmpty", undefined, { details: { BucketName: name } });
    }
  }

  /** Where many uploads may be open, they are removed before, in steps. @throws {S3Error} BucketNotEmpty */
  delete(name: string): Promise<void> {
    return this.#index.mutate(() => {
      const bucket = this.get(name);
      const { id } = bucket;
      this.checkEmpty(bucket);
      const uploads = "select id from uploads where bucket = ?";
      this.#index.run(
        `update files set garbage = 1 where id in (select file from parts where upload in (${uploads}))`,
        id,
      );
      this.#index.run(`delete from parts where upload in (${uploads})`, id);
      this.#index.run("delete from uploads where bucket = ?", id);
      this.#index.run("delete from completions where bucket = ?", id);
      this.#index.run("delete from buckets where id = ?", id);
      this.#byName.forget(name);
      this.#byId.forget(id);
    });
  }

  set(name: string, setting: BucketSetting, value: string | number | null): Promise<void> {
    return this.#index.mutate(() => {
      const { id } = this.get(name);
      this.#index.run(`update buckets set ${setting} = ? where id = ?`, value, id);
      this.#byName.forget(name);
      this.#byId.forget(id);
    });
  }

  /** Counts a change of what a bucket holds; inside `mutate`. */
  count(
    id: number,
    {
      objects = 0,
      bytes = 0,
      uploadBytes = 0,
    }: { readonly objects?: number; readonly bytes?: number; readonly uploadBytes?: number },
  ): void {
    const before = this.#findById(id);
    this.#index.run(
      "update buckets set objects = objects + ?, bytes = bytes + ?, upload_bytes = upload_bytes + ? where id = ?",
      objects,
      bytes,
      uploadBytes,
      id,
    );
    if (before !== undefined) {
      const after: Bucket = {
        ...before,
        objects: before.objects + objects,
        bytes: before.bytes + bytes,
        upload_bytes: before.upload_bytes + uploadBytes,
      };
      this.#byId.set(id, after);
      this.#byName.set(after.name, after);
    }
  }

  /**
   * Inside `mutate`, before content is added.
   * @throws {S3Error} NoSuchBucket when the bucket went away meanwhile, QuotaExceeded when `bytes` more do not fit
   */
  checkRoom(id: number, bytes: number): Bucket {
    const bucket = this.#findById(id);
    if (bucket === undefined) {
      throw new S3Error("NoSuchBucket");
    }
    checkQuota(bucket, bytes);
    return bucket;
  }

  #findById(id: number): Bucket | undefined {
    return this.#byId.get(id, () => this.#index.get<Bucket>("select * from buckets where id = ?", id));
  }
}

/** @throws {S3Error} QuotaExceeded when `bytes` more do not fit */
export function checkQuota(bucket: Bucket, bytes: number): void {
  const { quota_bytes: quota } = bucket;
  const used = bucket.bytes + bucket.upload_bytes;
  if (quota !== null && bytes > 0 && used + bytes > quota) {
    throw new S3Error(
      "QuotaExceeded",
      `The quota of this bucket is ${quota} bytes, ${used} are used, ${bytes} more do not fit. Delete objects or old versions, or ask for a larger quota.`,
      { details: { BucketName: bucket.name } },
    );
  }
}
