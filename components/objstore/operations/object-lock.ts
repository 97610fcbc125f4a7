import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import {
  type DefaultRetention,
  parseHold,
  parseLockConfiguration,
  parseRetention,
  readLockHeaders,
  toRetention,
} from "../protocol/object-lock.ts";
import { header, send, sendXml } from "../protocol/request.ts";
import { type Lock, isLocked } from "../store/lock.ts";
import type { Bucket, Version } from "../store/rows.ts";
import { type Operation, type OperationContext, bucketOf, findVersion, keyOf } from "./operation.ts";

export const getObjectLockConfiguration: Operation = {
  name: "GetObjectLockConfiguration",
  action: "s3:GetBucketObjectLockConfiguration",
  handle: (context) => {
    const { object_lock: json } = bucketOf(context);
    if (json === null) {
      throw new S3Error("ObjectLockConfigurationNotFoundError");
    }
    const { mode, days, years } = JSON.parse(json) as Partial<DefaultRetention>;
    sendXml(context.request, "ObjectLockConfiguration", {
      ObjectLockEnabled: "Enabled",
      Rule: mode === undefined ? undefined : { DefaultRetention: { Mode: mode, Days: days, Years: years } },
    });
  },
};

export const putObjectLockConfiguration: Operation = {
  name: "PutObjectLockConfiguration",
  action: "s3:PutBucketObjectLockConfiguration",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const text = (await readDocument(request, 64 << 10)).toString();
    if (bucket.versioning !== "Enabled") {
      throw new S3Error("InvalidBucketState", "Versioning must be 'Enabled' on the bucket to apply Object Lock.");
    }
    const chosen = parseLockConfiguration(text);
    await store.buckets.set(bucket.name, "object_lock", JSON.stringify(chosen ?? {}));
    send(request, 200);
  },
};

export const getObjectRetention: Operation = {
  name: "GetObjectRetention",
  action: "s3:GetObjectRetention",
  handle: (context) => {
    const { retention } = requireLock(context, findVersion(context));
    if (retention === undefined) {
      throw new S3Error("NoSuchObjectLockConfiguration");
    }
    sendXml(context.request, "Retention", {
      Mode: retention.mode,
      RetainUntilDate: new Date(retention.until).toISOString(),
    });
  },
};

export const putObjectRetention: Operation = {
  name: "PutObjectRetention",
  action: "s3:PutObjectRetention",
  handle: async (context) => {
    const { store, request } = context;
    const version = findVersion(context);
    requireLock(context, version);
    const retention = parseRetention((await readDocument(request, 64 << 10)).toString(), store.now());
    const bypass = mayBypass(context);
    await store.changes.setLock(bucketOf(context), version, (lock) => {
      const before = lock.retention;
      const isKept = before !== undefined && before.until > store.now();
      const isLess =
        retention === undefined || retention.until < (before?.until ?? 0) || retention.mode !== before?.mode;
      if (isKept && isLess && !(before.mode === "GOVERNANCE" && bypass)) {
        throw new S3Error("AccessDenied", "The retention of this object cannot be made shorter.");
      }
      return { ...lock, retention };
    });
    send(request, 200);
  },
};

export const getObjectLegalHold: Operation = {
  name: "GetObjectLegalHold",
  action: "s3:GetObjectLegalHold",
  handle: (context) => {
    const { hold } = requireLock(context, findVersion(context));
    if (hold === undefined) {
      throw new S3Error("NoSuchObjectLockConfiguration");
    }
    sendXml(context.request, "LegalHold", { Status: hold ? "ON" : "OFF" });
  },
};

export const putObjectLegalHold: Operation = {
  name: "PutObjectLegalHold",
  action: "s3:PutObjectLegalHold",
  handle: async (context) => {
    const { store, request } = context;
    const version = findVersion(context);
    requireLock(context, version);
    const hold = parseHold((await readDocument(request, 64 << 10)).toString());
    await store.changes.setLock(bucketOf(context), version, (lock) => ({ ...lock, hold }));
    send(request, 200);
  },
};

function requireLock(context: OperationContext, version: Version): Lock {
  if (bucketOf(context).object_lock === null) {
    throw new S3Error("InvalidRequest", "Bucket is missing Object Lock Configuration");
  }
  return version.lock === null ? {} : (JSON.parse(version.lock) as Lock);
}

/** The lock of a new version, JSON: what the request asks for, else the bucket's default. @throws {S3Error} InvalidRequest */
export function readObjectLock(
  { store, request }: Pick<OperationContext, "store" | "request">,
  bucket: Bucket,
): string | null {
  const requested = readLockHeaders(request, store.now());
  if (bucket.object_lock === null) {
    if (requested !== undefined) {
      throw new S3Error("InvalidRequest", "Bucket is missing Object Lock Configuration");
    }
    return null;
  }
  const standard = JSON.parse(bucket.object_lock) as DefaultRetention | Record<string, never>;
  const retention =
    requested?.retention ?? ("mode" in standard ? toRetention(standard as DefaultRetention, store.now()) : undefined);
  return retention === undefined && requested === undefined ? null : JSON.stringify({ ...requested, retention });
}

/** Asks for the rights to set a lock that comes with an upload. @throws {S3Error} AccessDenied */
export function authorizeLock({ request, authorize, ...context }: OperationContext): void {
  const { bucket = "" } = request.address;
  const key = keyOf({ request, authorize, ...context });
  if (header(request, "x-amz-object-lock-mode") !== undefined) {
    authorize("s3:PutObjectRetention", bucket, key);
  }
  if (header(request, "x-amz-object-lock-legal-hold") !== undefined) {
    authorize("s3:PutObjectLegalHold", bucket, key);
  }
}

/** Whether the caller asks to bypass governance, and may. */
export function mayBypass({ request, may }: OperationContext, key: string | undefined = request.address.key): boolean {
  return (
    header(request, "x-amz-bypass-governance-retention")?.toLowerCase() === "true" &&
    may("s3:BypassGovernanceRetention", request.address.bucket ?? "", key)
  );
}

/** @throws {S3Error} AccessDenied when a lock keeps a version from being deleted for good */
export function checkUnlocked(version: Pick<Version, "lock"> | undefined, now: number, bypass: boolean): void {
  if (version !== undefined && isLocked(version, now, bypass)) {
    throw new S3Error("AccessDenied", "Access Denied because object protected by object lock.");
  }
}
