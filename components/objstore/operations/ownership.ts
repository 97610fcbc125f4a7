import { isPublicAcl } from "../access/acl.ts";
import { aclOf } from "../access/authorize.ts";
import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { send, sendXml } from "../protocol/request.ts";
import { childOf, childrenOf, parseXml, textOf } from "../protocol/xml.ts";
import type { Ownership } from "../store/rows.ts";
import { type Operation, bucketOf } from "./operation.ts";

const MODES = ["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"] as const;

/** @throws {S3Error} InvalidArgument */
export function toOwnership(text: string | undefined): Exclude<Ownership, ""> {
  const mode = MODES.find((each) => each === text);
  if (mode === undefined) {
    throw new S3Error("InvalidArgument", `ObjectOwnership must be one of ${MODES.join(", ")}.`);
  }
  return mode;
}

export const getBucketOwnershipControls: Operation = {
  name: "GetBucketOwnershipControls",
  action: "s3:GetBucketOwnershipControls",
  handle: (context) => {
    const { ownership } = bucketOf(context);
    if (ownership === "") {
      throw new S3Error("OwnershipControlsNotFoundError");
    }
    sendXml(context.request, "OwnershipControls", { Rule: { ObjectOwnership: ownership } });
  },
};

export const putBucketOwnershipControls: Operation = {
  name: "PutBucketOwnershipControls",
  action: "s3:PutBucketOwnershipControls",
  handle: async (context) => {
    const { request, store } = context;
    const document = parseXml((await readDocument(request, 64 << 10)).toString(), "OwnershipControls");
    if (childrenOf(document, "Rule").length !== 1) {
      throw new S3Error("MalformedXML");
    }
    const bucket = bucketOf(context);
    const ownership = toOwnership(textOf(childOf(document, "Rule"), "ObjectOwnership"));
    if (ownership === "BucketOwnerEnforced" && (isPublicAcl(aclOf(bucket)) || aclOf(bucket).grants.length > 1)) {
      // Whoever the list lets in would be shut out without a word.
      throw new S3Error("InvalidBucketAclWithObjectOwnership");
    }
    await store.buckets.set(bucket.name, "ownership", ownership);
    send(request, 200);
  },
};

export const deleteBucketOwnershipControls: Operation = {
  name: "DeleteBucketOwnershipControls",
  action: "s3:PutBucketOwnershipControls",
  handle: async (context) => {
    await context.store.buckets.set(bucketOf(context).name, "ownership", "");
    send(context.request, 204);
  },
};
