import { send } from "../protocol/request.ts";
import { type Operation, bucketOf } from "./operation.ts";

export const deleteBucket: Operation = {
  name: "DeleteBucket",
  action: "s3:DeleteBucket",
  handle: async (context) => {
    await context.store.buckets.delete(bucketOf(context).name);
    send(context.request, 204);
  },
};
