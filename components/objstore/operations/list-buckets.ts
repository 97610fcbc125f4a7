import { idOf } from "../access/acl.ts";
import { noContext } from "../access/circumstances.ts";
import { isAllowed } from "../access/evaluate.ts";
import type { Principal } from "../access/principal.ts";
import { sendXml } from "../protocol/request.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import type { Operation } from "./operation.ts";

/** Buckets that the caller may list. */
export const listBuckets: Operation = {
  name: "ListBuckets",
  action: "",
  handle: ({ store, request, principal }) => {
    const visible = listVisible(store, principal);
    sendXml(request, "ListAllMyBucketsResult", {
      Owner: { ID: idOf(principal), DisplayName: idOf(principal) },
      Buckets: {
        Bucket: visible.map(({ name, created }) => ({ Name: name, CreationDate: new Date(created).toISOString() })),
      },
    });
  },
};

/** Of an account of one's own its buckets; of the deployment's those that the caller may list, or all where it may see all. */
export function listVisible(store: ObjectStore, principal: Principal): readonly Bucket[] {
  const all = isAllowed(principal, undefined, { action: "s3:ListAllMyBuckets", resource: "", context: noContext });
  const buckets = store.buckets.list();
  if (principal.kind === "root") {
    return buckets;
  }
  const account = principal.kind === "anonymous" ? undefined : principal.account;
  return buckets.filter(
    (bucket) =>
      bucket.account === account &&
      (all || isAllowed(principal, bucket, { action: "s3:ListBucket", resource: bucket.name, context: noContext })),
  );
}
