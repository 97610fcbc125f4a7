import { idOf } from "../access/acl.ts";
import { noContext } from "../access/circumstances.ts";
import { isAllowed, isDenied } from "../access/evaluate.ts";
import type { Principal } from "../access/principal.ts";
import { S3Error } from "../errors.ts";
import { readInteger, sendXml } from "../protocol/request.ts";
import type { Bucket } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
import type { Operation } from "./operation.ts";

const LIST = { action: "s3:ListAllMyBuckets", resource: "", context: noContext };

/** Buckets that the caller may list. */
export const listBuckets: Operation = {
  name: "ListBuckets",
  action: "",
  handle: ({ store, request, principal, region }) => {
    const { query } = request;
    const limit = readInteger(request, "max-buckets", 10_000, 10_000);
    const prefix = query.get("prefix") ?? "";
    const after = Buffer.from(query.get("continuation-token") ?? "", "base64url").toString();
    const there = query.get("bucket-region") ?? region;
    const listed = listVisible(store, principal);
    if (isDenied(principal, LIST) || (listed.length === 0 && !isAllowed(principal, undefined, LIST))) {
      throw new S3Error("AccessDenied");
    }
    const fitting = there === region ? listed.filter(({ name }) => name.startsWith(prefix) && name > after) : [];
    const visible = fitting.slice(0, limit);
    const isCut = fitting.length > visible.length;
    sendXml(request, "ListAllMyBucketsResult", {
      Owner: { ID: idOf(principal), DisplayName: idOf(principal) },
      Buckets: {
        Bucket: visible.map(({ name, created }) => ({ Name: name, CreationDate: new Date(created).toISOString() })),
      },
      ...(prefix !== "" && { Prefix: prefix }),
      ContinuationToken: isCut ? Buffer.from(visible.at(-1)?.name ?? "").toString("base64url") : undefined,
    });
  },
};

/** Of an account of one's own its buckets; of the deployment's those that the caller may list, or all where it may see all. */
export function listVisible(store: ObjectStore, principal: Principal): readonly Bucket[] {
  const all = isAllowed(principal, undefined, LIST);
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
