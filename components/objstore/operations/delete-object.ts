import { send } from "../protocol/request.ts";
import { toDeleteCheck } from "../protocol/conditions.ts";
import type { Version } from "../store/rows.ts";
import { checkUnlocked, mayBypass } from "./object-lock.ts";
import { type Operation, bucketOf, keyOf, originOf } from "./operation.ts";

export const deleteObject: Operation = {
  name: "DeleteObject",
  action: "s3:DeleteObject",
  versionAction: "s3:DeleteObjectVersion",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const conditions = toDeleteCheck(request.message.headers);
    const isForGood = request.query.has("versionId");
    const bypass = isForGood && mayBypass(context);
    const check = (current: Version | undefined) => {
      conditions(current);
      if (isForGood) {
        checkUnlocked(current, store.now(), bypass);
      }
    };
    const removal = { kind: "ObjectRemoved", origin: originOf(context) } as const;
    const result = await store.reservedSpace.whileFull(() =>
      store.versions.delete(bucket, keyOf(context), request.query.get("versionId"), check, removal),
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
