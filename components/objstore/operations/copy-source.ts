import { S3Error } from "../errors.ts";
import { checkCopyConditions } from "../protocol/conditions.ts";
import { header } from "../protocol/request.ts";
import type { Bucket, Version } from "../store/rows.ts";
import { type OperationContext, requireVersion } from "./operation.ts";

/** Resolves `x-amz-copy-source`: the caller must be allowed to read it and its conditions must hold. */
export function findCopySource(context: OperationContext): { readonly bucket: Bucket; readonly version: Version } {
  const { store, request } = context;
  const source = header(request, "x-amz-copy-source") ?? "";
  const [path = "", query] = source.split(/\?(?=versionId=)/, 2);
  let decoded: string;
  try {
    decoded = decodeURIComponent(path).replace(/^\//, "");
  } catch (error) {
    throw new S3Error("InvalidArgument", "Copy Source must be URL-encoded.", { cause: error });
  }
  const slash = decoded.indexOf("/");
  if (slash < 1 || slash === decoded.length - 1) {
    throw new S3Error("InvalidArgument", "Copy Source must mention the source bucket and key: sourcebucket/sourcekey");
  }
  const key = decoded.slice(slash + 1);
  const id = query?.slice("versionId=".length);
  context.authorize(id === undefined ? "s3:GetObject" : "s3:GetObjectVersion", decoded.slice(0, slash), key, id);
  const bucket = store.buckets.get(decoded.slice(0, slash));
  const expected = header(request, "x-amz-source-expected-bucket-owner");
  if (expected !== undefined && expected !== bucket.owner) {
    throw new S3Error("AccessDenied");
  }
  const version = requireVersion(store, bucket, key, id);
  checkCopyConditions(request.message.headers, version);
  return { bucket, version };
}
