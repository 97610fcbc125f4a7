import { S3Error } from "../errors.ts";
import { type S3Request, header } from "../protocol/request.ts";
import * as acl from "./acl.ts";
import { abortMultipartUpload } from "./abort-multipart-upload.ts";
import * as documents from "./bucket-documents.ts";
import * as fixed from "./bucket-fixed.ts";
import { getBucketLogging, putBucketLogging } from "./bucket-logging.ts";
import { getBucketNotificationConfiguration, putBucketNotificationConfiguration } from "./bucket-notification.ts";
import * as policy from "./bucket-policy.ts";
import { getBucketVersioning, putBucketVersioning } from "./bucket-versioning.ts";
import { completeMultipartUpload } from "./complete-multipart-upload.ts";
import { copyObject } from "./copy-object.ts";
import { createBucket } from "./create-bucket.ts";
import { createMultipartUpload } from "./create-multipart-upload.ts";
import { deleteBucket } from "./delete-bucket.ts";
import { deleteObject } from "./delete-object.ts";
import { deleteObjects } from "./delete-objects.ts";
import { getBucketLocation } from "./get-bucket-location.ts";
import { getObject } from "./get-object.ts";
import { getObjectTorrent } from "./get-object-torrent.ts";
import { getObjectAttributes } from "./get-object-attributes.ts";
import { headBucket } from "./head-bucket.ts";
import { listBuckets } from "./list-buckets.ts";
import { listMultipartUploads } from "./list-multipart-uploads.ts";
import { listObjectVersions } from "./list-object-versions.ts";
import { listObjects } from "./list-objects.ts";
import { listParts } from "./list-parts.ts";
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from "./object-tagging.ts";
import type { Operation } from "./operation.ts";
import * as lock from "./object-lock.ts";
import * as ownership from "./ownership.ts";
import { postObject } from "./post-object.ts";
import { putObject } from "./put-object.ts";
import { uploadPartCopy } from "./upload-part-copy.ts";
import { uploadPart } from "./upload-part.ts";

type Level = "service" | "bucket" | "object";

/** `<method> <level>[?subresource][ +copy]` → operation. What is not here is not implemented. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET service": listBuckets,
  "PUT bucket": createBucket,
  "HEAD bucket": headBucket,
  "DELETE bucket": deleteBucket,
  "GET bucket": listObjects,
  "GET bucket?location": getBucketLocation,
  "GET bucket?versions": listObjectVersions,
  "GET bucket?uploads": listMultipartUploads,
  "POST bucket?delete": deleteObjects,
  "POST bucket": postObject,
  "GET bucket?versioning": getBucketVersioning,
  "PUT bucket?versioning": putBucketVersioning,
  "GET bucket?policy": policy.getBucketPolicy,
  "PUT bucket?policy": policy.putBucketPolicy,
  "DELETE bucket?policy": policy.deleteBucketPolicy,
  "GET bucket?policyStatus": policy.getBucketPolicyStatus,
  "GET bucket?cors": documents.getBucketCors,
  "PUT bucket?cors": documents.putBucketCors,
  "DELETE bucket?cors": documents.deleteBucketCors,
  "GET bucket?lifecycle": documents.getBucketLifecycle,
  "PUT bucket?lifecycle": documents.putBucketLifecycle,
  "DELETE bucket?lifecycle": documents.deleteBucketLifecycle,
  "GET bucket?tagging": fixed.getBucketTagging,
  "PUT bucket?tagging": fixed.putBucketTagging,
  "DELETE bucket?tagging": fixed.deleteBucketTagging,
  "GET bucket?publicAccessBlock": fixed.getPublicAccessBlock,
  "PUT bucket?publicAccessBlock": fixed.putPublicAccessBlock,
  "DELETE bucket?publicAccessBlock": fixed.deletePublicAccessBlock,
  "GET bucket?acl": acl.getBucketAcl,
  "PUT bucket?acl": acl.putBucketAcl,
  "GET bucket?ownershipControls": ownership.getBucketOwnershipControls,
  "PUT bucket?ownershipControls": ownership.putBucketOwnershipControls,
  "DELETE bucket?ownershipControls": ownership.deleteBucketOwnershipControls,
  "GET bucket?object-lock": lock.getObjectLockConfiguration,
  "PUT bucket?object-lock": lock.putObjectLockConfiguration,
  "PUT bucket?requestPayment": fixed.putBucketRequestPayment,
  "GET bucket?requestPayment": fixed.getBucketRequestPayment,
  "GET bucket?encryption": fixed.getBucketEncryption,
  "PUT bucket?encryption": fixed.putBucketEncryption,
  "DELETE bucket?encryption": fixed.deleteBucketEncryption,
  "GET bucket?logging": getBucketLogging,
  "PUT bucket?logging": putBucketLogging,
  "GET bucket?notification": getBucketNotificationConfiguration,
  "PUT bucket?notification": putBucketNotificationConfiguration,
  "GET object": getObject,
  "HEAD object": getObject,
  "PUT object": putObject,
  "PUT object +copy": copyObject,
  "DELETE object": deleteObject,
  "GET object?attributes": getObjectAttributes,
  "GET object?acl": acl.getObjectAcl,
  "PUT object?acl": acl.putObjectAcl,
  "GET object?torrent": getObjectTorrent,
  "GET object?retention": lock.getObjectRetention,
  "PUT object?retention": lock.putObjectRetention,
  "GET object?legal-hold": lock.getObjectLegalHold,
  "PUT object?legal-hold": lock.putObjectLegalHold,
  "GET object?tagging": getObjectTagging,
  "PUT object?tagging": putObjectTagging,
  "DELETE object?tagging": deleteObjectTagging,
  "POST object?uploads": createMultipartUpload,
  "PUT object?uploadId": uploadPart,
  "PUT object?uploadId +copy": uploadPartCopy,
  "GET object?uploadId": listParts,
  "POST object?uploadId": completeMultipartUpload,
  "DELETE object?uploadId": abortMultipartUpload,
};

/** Every operation as the management listener lists it, with its place in braces: `PUT /{bucket}/{key}?acl`. */
export function listS3Routes(): readonly { readonly method: string; readonly path: string }[] {
  const places: Readonly<Record<Level, string>> = { service: "/", bucket: "/{bucket}", object: "/{bucket}/{key}" };
  return Object.keys(OPERATIONS).flatMap((name) => {
    const [, method = "", level = "", subresource = ""] = /^(\w+) (\w+)(\?[\w-]+)?/.exec(name) ?? [];
    return { method, path: `${places[level as Level]}${subresource}` };
  });
}

/** Query names that choose an operation; all others are parameters or are tolerated. */
export const SUBRESOURCES = new Set([
  "abac", "accelerate", "acl", "analytics", "annotation", "attributes", "cors", "delete", "encryption", "intelligent-tiering", "inventory",
  "legal-hold", "lifecycle", "location", "logging", "metadataAnnotationTable", "metadataConfiguration", "metadataInventoryTable",
  "metadataJournalTable", "metadataTable", "metrics", "notification", "object-lock", "ownershipControls", "policy", "policyStatus",
  "publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention", "select", "session", "tagging", "torrent",
  "uploadId", "uploads", "versioning", "versions", "website",
]); // prettier-ignore

/** The operations that a method and a level choose, without a name to put together for each request. */
const PLAIN: Readonly<Record<Level, ReadonlyMap<string, Operation>>> = {
  service: toPlain("service"),
  bucket: toPlain("bucket"),
  object: toPlain("object"),
};

function toPlain(level: Level): ReadonlyMap<string, Operation> {
  return new Map(
    Object.entries(OPERATIONS).flatMap(([name, operation]) =>
      name.endsWith(` ${level}`) ? [[name.slice(0, -level.length - 1), operation] as const] : [],
    ),
  );
}

/** Chooses the operation of a request. @throws {S3Error} NotImplemented, MethodNotAllowed */
export function findOperation(request: S3Request): Operation {
  const { bucket, key } = request.address;
  const level: Level = bucket === undefined ? "service" : key === undefined ? "bucket" : "object";
  const subresource = findSubresource(request);
  const copy = request.method !== "PUT" || header(request, "x-amz-copy-source") === undefined ? "" : " +copy";
  if (subresource === undefined && copy === "") {
    const plain = PLAIN[level].get(request.method);
    if (plain !== undefined) {
      return plain;
    }
  }
  const operation =
    OPERATIONS[`${request.method} ${level}${subresource === undefined ? "" : `?${subresource}`}${copy}`];
  if (operation !== undefined) {
    return operation;
  }
  if (!["GET", "HEAD", "PUT", "POST", "DELETE"].includes(request.method)) {
    throw new S3Error("MethodNotAllowed", undefined, { details: { Method: request.method } });
  }
  throw new S3Error(
    "NotImplemented",
    `${request.method} of ${level === "object" ? "an object" : `a ${level}`}${subresource === undefined ? "" : ` with ?${subresource}`} is not implemented by this object store.`,
  );
}

/**
 * The query name that chooses the operation. A name without a value in a request that changes something is one too, though
 * not known here: taken for a parameter, `PUT key?annotation` would replace the object.
 */
function findSubresource({ method, address }: S3Request): string | undefined {
  for (const [name, value] of address.query) {
    // What a signature consists of is most of what comes, and never a subresource.
    const isSubresource = !name.startsWith("X-Amz-") && SUBRESOURCES.has(name);
    if (isSubresource || (value === "" && method !== "GET" && method !== "HEAD" && !PARAMETERS.has(name))) {
      return name;
    }
  }
  return undefined;
}

/** Parameters that may come without a value. */
const PARAMETERS = new Set(["prefix", "delimiter", "marker", "key-marker", "encoding-type", "X-Amz-SignedHeaders"]);
