import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { parseLogging } from "../protocol/logging.ts";
import { send } from "../protocol/request.ts";
import { type Operation, bucketOf } from "./operation.ts";

const EMPTY = '<BucketLoggingStatus xmlns="http://s3.amazonaws.com/doc/2006-03-01/"/>';

export const getBucketLogging: Operation = {
  name: "GetBucketLogging",
  action: "s3:GetBucketLogging",
  handle: (context) => send(context.request, 200, bucketOf(context).logging ?? EMPTY, "application/xml"),
};

/** PutBucketLogging: the target belongs to the same account, and who asks may write there. */
export const putBucketLogging: Operation = {
  name: "PutBucketLogging",
  action: "s3:PutBucketLogging",
  handle: async (context) => {
    const { store, request } = context;
    const text = (await readDocument(request, 64 << 10)).toString();
    const logging = parseLogging(text);
    const bucket = bucketOf(context);
    if (logging !== undefined) {
      const target = store.buckets.find(logging.bucket);
      if (target === undefined || target.account !== bucket.account) {
        throw new S3Error("InvalidTargetBucketForLogging");
      }
      context.authorize("s3:PutObject", target.name, `${logging.prefix}log`);
    }
    await store.buckets.set(bucket.name, "logging", logging === undefined ? null : text);
    send(request, 200);
  },
};
