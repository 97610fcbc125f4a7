import { type Acl, idOf, isPublicAcl } from "../access/acl.ts";
import { nameOf } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { isBucketName } from "../protocol/address.ts";
import { readDocument } from "../protocol/body.ts";
import { header, send } from "../protocol/request.ts";
import { parseXml, textOf } from "../protocol/xml.ts";
import { readHeaderAcl, toDirectory } from "./acl.ts";
import type { Operation, OperationContext } from "./operation.ts";
import { toOwnership } from "./ownership.ts";

export const createBucket: Operation = {
  name: "CreateBucket",
  action: "s3:CreateBucket",
  handle: async (context) => {
    const { store, request, principal, region, defaultOwnership } = context;
    const name = request.address.bucket ?? "";
    if (!isBucketName(name)) {
      throw new S3Error("InvalidBucketName", undefined, { details: { BucketName: name } });
    }
    const body = (await readDocument(request, 64 << 10)).toString();
    const requested =
      body === "" ? undefined : textOf(parseXml(body, "CreateBucketConfiguration"), "LocationConstraint");
    if (requested !== undefined && requested !== "" && requested !== region) {
      throw new S3Error(
        "IllegalLocationConstraintException",
        `The region of this object store is ${region}, not ${requested}.`,
      );
    }
    const asked = header(request, "x-amz-object-ownership");
    const ownership = asked === undefined ? defaultOwnership : toOwnership(asked);
    const acl = readBucketAcl(context, ownership);
    const locks = header(request, "x-amz-bucket-object-lock-enabled")?.toLowerCase() === "true";
    const owner = idOf(principal);
    const account = principal.kind === "anonymous" ? "" : principal.account;
    const existing = store.buckets.find(name);
    if (existing !== undefined && existing.owner === owner && existing.account === account) {
      if ((existing.acl ?? null) !== (acl === undefined ? null : JSON.stringify(acl))) {
        // Made again with other rights, it would not be what was asked for.
        throw new S3Error("BucketAlreadyExists", undefined, { details: { BucketName: name } });
      }
    } else {
      const added = { owner: account === "" ? nameOf(principal) : owner, account, ownership, locks };
      await store.buckets.create(name, { ...added, ...(acl && { acl: JSON.stringify(acl) }) }, store.now());
    }
    request.response.setHeader("location", `/${name}`);
    send(request, 200);
  },
};

/** @throws {S3Error} InvalidBucketAclWithObjectOwnership where lists do not count */
function readBucketAcl({ store, request, principal }: OperationContext, ownership: string): Acl | undefined {
  const owner = idOf(principal);
  const acl = readHeaderAcl(request, { owner, bucketOwner: owner, directory: toDirectory(store) });
  if (acl !== undefined && ownership === "BucketOwnerEnforced" && (isPublicAcl(acl) || acl.grants.length > 1)) {
    throw new S3Error("InvalidBucketAclWithObjectOwnership");
  }
  const isPrivate = header(request, "x-amz-acl") === "private";
  return isPrivate ? undefined : acl;
}
