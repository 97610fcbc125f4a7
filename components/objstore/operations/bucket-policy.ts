import { isPublicAcl } from "../access/acl.ts";
import { aclOf } from "../access/authorize.ts";
import { isBlocked } from "../access/evaluate.ts";
import { parsePolicy } from "../access/policy.ts";
import { isPublicPolicy } from "../access/public-policy.ts";
import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { send, sendXml } from "../protocol/request.ts";
import type { Bucket } from "../store/rows.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const getBucketPolicy: Operation = {
  name: "GetBucketPolicy",
  action: "s3:GetBucketPolicy",
  handle: (context) => {
    const { policy, name } = bucketOf(context);
    if (policy === null) {
      throw new S3Error("NoSuchBucketPolicy", undefined, { details: { BucketName: name } });
    }
    send(context.request, 200, policy, "application/json");
  },
};

export const getBucketPolicyStatus: Operation = {
  name: "GetBucketPolicyStatus",
  action: "s3:GetBucketPolicyStatus",
  handle: (context) => {
    const bucket = bucketOf(context);
    const { policy, name } = bucket;
    const byPolicy = policy !== null && isPublicPolicy(parsePolicy(policy, name));
    const byAcl =
      bucket.ownership !== "BucketOwnerEnforced" &&
      isPublicAcl(aclOf(bucket)) &&
      !isBlocked(bucket, "IgnorePublicAcls");
    sendXml(context.request, "PolicyStatus", { IsPublic: byPolicy || byAcl });
  },
};

export const putBucketPolicy: Operation = {
  name: "PutBucketPolicy",
  action: "s3:PutBucketPolicy",
  handle: async (context) => {
    const bucket = bucketOf(context);
    const text = (await readDocument(context.request, 20 << 10)).toString();
    checkBucketPolicy(bucket, text);
    await context.store.buckets.set(bucket.name, "policy", text);
    send(context.request, 204);
  },
};

export const deleteBucketPolicy: Operation = {
  name: "DeleteBucketPolicy",
  action: "s3:DeleteBucketPolicy",
  handle: async (context) => {
    await context.store.buckets.set(bucketOf(context).name, "policy", null);
    send(context.request, 204);
  },
};

/** @throws {S3Error} MalformedPolicy; AccessDenied for a public one where the bucket forbids that */
export function checkBucketPolicy(bucket: Bucket, text: string): void {
  const policy = parsePolicy(text, bucket.name);
  if (isBlocked(bucket, "BlockPublicPolicy") && isPublicPolicy(policy)) {
    throw new S3Error("AccessDenied", "The public access block of this bucket forbids a public policy.");
  }
}
