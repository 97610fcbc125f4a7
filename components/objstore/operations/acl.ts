import { type Acl, idOf, isPublicAcl, toCannedAcl, toPrivateAcl } from "../access/acl.ts";
import { aclOf } from "../access/authorize.ts";
import { isBlocked } from "../access/evaluate.ts";
import type { Principal } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { type Directory, parseAcl, readGrantHeaders, renderAcl } from "../protocol/acl-document.ts";
import { readDocument } from "../protocol/body.ts";
import { type S3Request, header, send } from "../protocol/request.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import { type Operation, type OperationContext, bucketOf, findVersion, setVersionHeader } from "./operation.ts";

export const getBucketAcl: Operation = {
  name: "GetBucketAcl",
  action: "s3:GetBucketAcl",
  handle: (context) => send(context.request, 200, renderAcl(aclOf(bucketOf(context))), "application/xml"),
};

export const getObjectAcl: Operation = {
  name: "GetObjectAcl",
  action: "s3:GetObjectAcl",
  versionAction: "s3:GetObjectVersionAcl",
  handle: (context) => {
    const version = findVersion(context);
    setVersionHeader(context, bucketOf(context), version.version);
    send(context.request, 200, renderAcl(aclOf(version)), "application/xml");
  },
};

export const putBucketAcl: Operation = {
  name: "PutBucketAcl",
  action: "s3:PutBucketAcl",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const acl = await readAcl(context, bucket, bucket.owner);
    await store.buckets.set(bucket.name, "acl", JSON.stringify(acl));
    send(request, 200);
  },
};

export const putObjectAcl: Operation = {
  name: "PutObjectAcl",
  action: "s3:PutObjectAcl",
  versionAction: "s3:PutObjectVersionAcl",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const version = findVersion(context);
    const acl = await readAcl(context, bucket, version.owner);
    await store.changes.setAcl(bucket, version, JSON.stringify(acl));
    setVersionHeader(context, bucket, version.version);
    send(request, 200);
  },
};

/** The list that a request sets: canned, in headers, or in its body. @throws {S3Error} */
async function readAcl({ store, request, principal }: OperationContext, bucket: Bucket, owner: string): Promise<Acl> {
  const directory = toDirectory(store);
  const body = (await readDocument(request, 64 << 10)).toString();
  const provided = readHeaderAcl(request, { owner, bucketOwner: bucket.owner, directory });
  if (provided !== undefined && body !== "") {
    throw new S3Error("UnexpectedContent");
  }
  if (provided === undefined && body === "") {
    throw new S3Error("MissingSecurityHeader", "Your request was missing a required header: x-amz-acl");
  }
  const acl = provided ?? parseAcl(body, directory);
  if (acl.owner !== owner) {
    throw new S3Error("AccessDenied", "The owner of a list is the owner of what it is for.");
  }
  const isOwn = principal.kind !== "anonymous" && principal.account === bucket.account;
  if (bucket.ownership === "BucketOwnerEnforced" && !(isOwn && isOwnersAlone(acl, owner))) {
    throw new S3Error("AccessControlListNotSupported");
  }
  checkPublicAcl(bucket, acl);
  return acl;
}

/** Whether a list says what enforced ownership says anyway. */
function isOwnersAlone({ grants }: Acl, owner: string): boolean {
  return grants.every(
    ({ grantee, permission }) =>
      permission === "FULL_CONTROL" && grantee.type === "CanonicalUser" && grantee.id === owner,
  );
}

/** @throws {S3Error} AccessDenied for a public list where the bucket forbids that */
function checkPublicAcl(bucket: Bucket, acl: Acl): void {
  if (isBlocked(bucket, "BlockPublicAcls") && isPublicAcl(acl)) {
    throw new S3Error("AccessDenied", "The public access block of this bucket forbids public access control lists.");
  }
}

interface HeaderAcl {
  readonly owner: string;
  readonly bucketOwner: string;
  readonly directory: Directory;
}

/** The list of `x-amz-acl` or of `x-amz-grant-…`; undefined when the request has neither. @throws {S3Error} */
export function readHeaderAcl(request: S3Request, { owner, bucketOwner, directory }: HeaderAcl): Acl | undefined {
  const canned = header(request, "x-amz-acl");
  const grants = readGrantHeaders(request, directory);
  if (canned === undefined) {
    return grants && { owner, grants };
  }
  if (grants !== undefined) {
    throw new S3Error("InvalidRequest", "Specifying both Canned ACLs and Header Grants is not allowed");
  }
  const acl = toCannedAcl(canned, owner, bucketOwner);
  if (acl === undefined) {
    throw new S3Error("InvalidArgument", undefined, {
      details: { ArgumentName: "x-amz-acl", ArgumentValue: canned.slice(0, 100) },
    });
  }
  return acl;
}

export interface ObjectAccess {
  readonly owner: string;
  /** JSON; null: the owner's alone. */
  readonly acl: string | null;
}

/** Whose a new object is, and the list that comes with it. @throws {S3Error} AccessControlListNotSupported, AccessDenied */
export function readObjectAccess(
  { store, request, principal }: Pick<OperationContext, "store" | "request"> & { readonly principal: Principal },
  bucket: Bucket,
): ObjectAccess {
  const writer = idOf(principal);
  const bucketOwner = bucket.owner;
  const directory = toDirectory(store);
  const isEnforced = bucket.ownership === "BucketOwnerEnforced";
  const requested = readHeaderAcl(request, { owner: writer, bucketOwner, directory });
  if (requested === undefined) {
    return { owner: isEnforced ? enforcedOwner(bucket, writer) : writer, acl: null };
  }
  const canned = header(request, "x-amz-acl");
  if (isEnforced) {
    // Within one account every list of these says what enforced ownership says anyway; another's "private" would not be.
    const isOwn = principal.kind !== "anonymous" && principal.account === bucket.account;
    const isHarmless = isOwn && (canned === "private" || canned === "bucket-owner-read");
    if (!isHarmless && canned !== "bucket-owner-full-control" && !isOwnersAlone(requested, bucketOwner)) {
      throw new S3Error("AccessControlListNotSupported");
    }
    return { owner: enforcedOwner(bucket, writer), acl: null };
  }
  checkPublicAcl(bucket, requested);
  if (bucket.ownership === "BucketOwnerPreferred" && canned === "bucket-owner-full-control") {
    return { owner: bucketOwner, acl: JSON.stringify(toPrivateAcl(bucketOwner)) };
  }
  return { owner: writer, acl: JSON.stringify(requested) };
}

/** Within the deployment's own account objects show who wrote them; what others write into a bucket is its owner's. */
function enforcedOwner(bucket: Bucket, writer: string): string {
  return bucket.account === "" ? writer : bucket.owner;
}

export function toDirectory(store: ObjectStore): Directory {
  return {
    isKnown: (id) =>
      store.accounts.findUser(id) !== undefined || store.buckets.list().some((bucket) => bucket.owner === id),
    findByEmail: (email) => store.accounts.findUserByEmail(email)?.name,
  };
}
