import { send } from "../protocol/request.ts";
import { type Operation, bucketOf, keyOf } from "./operation.ts";

export const abortMultipartUpload: Operation = {
  name: "AbortMultipartUpload",
  action: "s3:AbortMultipartUpload",
  handle: async (context) => {
    const { store, request } = context;
    await store.reservedSpace.whileFull(() =>
      store.uploads.abort(bucketOf(context).id, keyOf(context), request.query.get("uploadId") ?? ""),
    );
    send(request, 204);
    store.garbage.nudge();
  },
};
