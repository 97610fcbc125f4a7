import { send } from "../protocol/request.ts";
import type { ObjectStore } from "../store/store.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const deleteBucket: Operation = {
  name: "DeleteBucket",
  action: "s3:DeleteBucket",
  handle: async (context) => {
    await removeBucket(context.store, bucketOf(context).name);
    send(context.request, 204);
  },
};

/** Open uploads are no objects yet: they go with the bucket. @throws {S3Error} NoSuchBucket, BucketNotEmpty */
export async function removeBucket({ buckets, uploads, garbage }: ObjectStore, name: string): Promise<void> {
  const bucket = buckets.get(name);
  buckets.checkEmpty(bucket);
  await uploads.abortAll(bucket.id);
  await buckets.delete(name);
  garbage.nudge();
}
