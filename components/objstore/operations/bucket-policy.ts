import { parsePolicy } from "../access/policy.ts";
import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { send, sendXml } from "../protocol/request.ts";
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
    const { policy, name } = bucketOf(context);
    if (policy === null) {
      throw new S3Error("NoSuchBucketPolicy", undefined, { details: { BucketName: name } });
    }
    sendXml(context.request, "PolicyStatus", { IsPublic: isPublic(policy, name) });
  },
};

export const putBucketPolicy: Operation = {
  name: "PutBucketPolicy",
  action: "s3:PutBucketPolicy",
  handle: async (context) => {
    const bucket = bucketOf(context);
    const text = (await readDocument(context.request, 20 << 10)).toString();
    parsePolicy(text, bucket.name);
    if (bucket.access_block?.includes('"BlockPublicPolicy":true') && isPublic(text, bucket.name)) {
      throw new S3Error("AccessDenied", "The public access block of this bucket forbids a public policy.");
    }
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

/** True when a statement lets everybody in without a condition. */
function isPublic(policy: string, bucket: string): boolean {
  return parsePolicy(policy, bucket).some(
    ({ effect, principals, conditions }) =>
      effect === "Allow" && principals?.includes("*") === true && conditions.length === 0,
  );
}
