import type { Authorizer } from "../access/authorize.ts";
import { addressOf } from "../access/circumstances.ts";
import { type Principal, nameOf } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import type { FormFields } from "../protocol/post-policy.ts";
import { type S3Request, header } from "../protocol/request.ts";
import { STORAGE_CLASS_HEADER, readStorageClass } from "../protocol/storage-class.ts";
import type { Bucket, Ownership, Version } from "../store/rows.ts";
import type { Origin } from "../store/events.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import type { ObjectStore } from "../store/store.ts";

/** What an operation works with. The bucket exists and the caller may do `action` on it when `handle` is called. */
export interface OperationContext extends Authorizer {
  readonly store: ObjectStore;
  readonly request: S3Request;
  readonly principal: Principal;
  readonly region: string;
  readonly publicUrl: string;
  /** Keys of the deployment for encryption at rest. */
  readonly keyring: Keyring;
  /** Names of webhooks that buckets may tell of changes. */
  readonly eventTargets: { readonly has: (name: string) => boolean };
  /** Of buckets that are made without saying. */
  readonly defaultOwnership: Ownership;
  /** Ends the request when the client stops to take its answer. */
  readonly watchClient: () => void;
  /** `freed`: bytes of what is replaced. @throws {S3Error} InsufficientStorage, QuotaExceeded */
  readonly checkRoom: (bucket: Bucket, bytes: number, freed?: number) => void;
  /** Whom a form proves to come from, and what that caller may do. @throws {S3Error} SignatureDoesNotMatch and others */
  readonly signIn: (form: FormFields) => { readonly principal: Principal } & Authorizer;
}

export interface Operation {
  readonly name: string;
  /** Right that the caller needs, `s3:GetObject`; with a versionId `versionAction`. */
  readonly action: string;
  readonly versionAction?: string;
  /** Writes the head of its answer by `startHead`; for others the base is set on the response before. */
  readonly sendsHead?: boolean;
  readonly handle: (context: OperationContext) => void | Promise<void>;
}

export function bucketOf({ store, request }: OperationContext): Bucket {
  return store.buckets.get(request.address.bucket ?? "");
}

/** Who changes something, as events tell. */
export function originOf({ request, principal }: OperationContext): Origin {
  return { requestId: request.requestId, address: addressOf(request), principal: nameOf(principal) };
}

export function keyOf({ request }: OperationContext): string {
  return request.address.key ?? "";
}

/** The version that a request names, or the newest. @throws {S3Error} NoSuchKey, NoSuchVersion, MethodNotAllowed */
export function findVersion(context: OperationContext): Version {
  const { store, request } = context;
  return requireVersion(store, bucketOf(context), keyOf(context), request.query.get("versionId"));
}

export function requireVersion(store: ObjectStore, bucket: Bucket, key: string, id: string | undefined): Version {
  const version =
    id === undefined ? store.versions.findLatest(bucket.id, key) : store.versions.find(bucket.id, key, id);
  if (version === undefined) {
    throw id === undefined
      ? new S3Error("NoSuchKey", undefined, { details: { Key: key }, headers: { "x-amz-delete-marker": "false" } })
      : new S3Error("NoSuchVersion", undefined, { details: { Key: key, VersionId: id } });
  }
  if (version.marker === 1) {
    const headers = { "x-amz-delete-marker": "true", "x-amz-version-id": version.version };
    throw id === undefined
      ? new S3Error("NoSuchKey", undefined, { details: { Key: key }, headers })
      : new S3Error("MethodNotAllowed", undefined, { details: { Method: "GET" }, headers });
  }
  return version;
}

/** Tells the version in an answer, where the bucket has versions. */
export function setVersionHeader({ request }: OperationContext, bucket: Bucket, version: string | undefined): void {
  // A bucket whose versions are suspended says nothing of the one that it overwrites.
  if (version !== undefined && (bucket.versioning === "Enabled" || (bucket.versioning !== "" && version !== "null"))) {
    request.response.setHeader("x-amz-version-id", version);
  }
}

const KEPT = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
];

/** Headers that are kept with an object. @throws {S3Error} for those that ask for what is not here */
export function readObjectHeaders(request: S3Request): Record<string, string> {
  refuseUnsupported(request);
  const kept: Record<string, string> = {};
  let metadata = 0;
  for (const name of Object.keys(request.headers)) {
    const value = header(request, name) ?? "";
    if (name.startsWith("x-amz-meta-")) {
      metadata += name.length - "x-amz-meta-".length + value.length;
      kept[name] = value;
    } else if (KEPT.includes(name)) {
      kept[name] = value;
    }
  }
  if (metadata > 2048) {
    throw new S3Error("MetadataTooLarge", undefined, { details: { Size: metadata, MaxSizeAllowed: 2048 } });
  }
  // aws-chunked is the framing of the upload, not an encoding of the object.
  const encoding = kept["content-encoding"]
    ?.split(",")
    .map((item) => item.trim())
    .filter((item) => item !== "aws-chunked");
  delete kept["content-encoding"];
  const storageClass = readStorageClass(request);
  return {
    "content-type": "binary/octet-stream",
    ...kept,
    ...(encoding !== undefined && encoding.join("") !== "" && { "content-encoding": encoding.join(", ") }),
    ...(storageClass !== undefined && { [STORAGE_CLASS_HEADER]: storageClass }),
  };
}

/** Refuses what would otherwise be silently ignored. */
function refuseUnsupported(request: S3Request): void {
  const unsupported = Object.keys(request.headers).find(
    (name) => name === "x-amz-server-side-encryption-context" || name === "x-amz-website-redirect-location",
  );
  if (unsupported !== undefined) {
    throw new S3Error("NotImplemented", `The header ${unsupported} is not supported.`, {
      details: { Header: unsupported },
    });
  }
}

/** Tags in a header: `a=1&b=2`. */
export function readTagHeader(request: S3Request): Record<string, string> | undefined {
  const text = header(request, "x-amz-tagging");
  return text === undefined ? undefined : checkTags([...new URLSearchParams(text)]);
}

/** @throws {S3Error} InvalidTag */
export function checkTags(pairs: readonly (readonly [string, string])[], limit = 10): Record<string, string> {
  if (pairs.length > limit) {
    throw new S3Error("InvalidTag", `There may be ${limit} tags, not ${pairs.length}.`);
  }
  const tags = new Map<string, string>();
  for (const [name, value] of pairs) {
    if (name === "" || name.length > 128 || value.length > 256 || name.startsWith("aws:")) {
      throw new S3Error(
        "InvalidTag",
        "A tag needs a name of 1 to 128 characters, not aws:…, and a value of at most 256.",
      );
    }
    if (tags.has(name)) {
      throw new S3Error("InvalidTag", "Cannot provide multiple Tags with the same key");
    }
    tags.set(name, value);
  }
  return Object.fromEntries(tags);
}
