import { send } from "../protocol/request.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { header } from "../protocol/request.ts";
import { type Operation, bucketOf, keyOf } from "./operation.ts";

export const deleteObject: Operation = {
  name: "DeleteObject",
  action: "s3:DeleteObject",
  versionAction: "s3:DeleteObjectVersion",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const match = header(request, "if-match");
    const check = toWriteCheck(match === undefined ? {} : { "if-match": match });
    const result = await store.ballast.whileFull(() =>
      store.versions.delete(bucket, keyOf(context), request.query.get("versionId"), check),
    );
    if (bucket.versioning !== "" && result !== undefined) {
      request.response.setHeader("x-amz-version-id", result.version);
      if (result.marker) {
        request.response.setHeader("x-amz-delete-marker", "true");
      }
    }
    send(request, 204);
    store.garbage.nudge();
  },
};
