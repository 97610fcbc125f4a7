import { isAllowed, nameOf } from "../access/principal.ts";
import { sendXml } from "../protocol/request.ts";
import type { Operation } from "./operation.ts";

/** Buckets that the caller may list. */
export const listBuckets: Operation = {
  name: "ListBuckets",
  action: "",
  handle: ({ store, request, principal }) => {
    const all = isAllowed(principal, undefined, { action: "s3:ListAllMyBuckets", resource: "", context: {} });
    const visible = store.buckets
      .list()
      .filter(
        (bucket) =>
          all || isAllowed(principal, bucket, { action: "s3:ListBucket", resource: bucket.name, context: {} }),
      );
    sendXml(request, "ListAllMyBucketsResult", {
      Owner: { ID: nameOf(principal), DisplayName: nameOf(principal) },
      Buckets: {
        Bucket: visible.map(({ name, created }) => ({ Name: name, CreationDate: new Date(created).toISOString() })),
      },
    });
  },
};
