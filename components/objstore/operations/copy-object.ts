import { S3Error } from "../errors.ts";
import { toChecksumElements } from "../protocol/checksums.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { header, sendXml } from "../protocol/request.ts";
import type { WrittenFile } from "../store/content-files.ts";
import type { StoredChecksum } from "../store/rows.ts";
import { readObjectAccess } from "./acl.ts";
import { findCopySource } from "./copy-source.ts";
import { authorizeLock, readObjectLock } from "./object-lock.ts";
import { type Operation, bucketOf, keyOf, readObjectHeaders, readTagHeader, setVersionHeader } from "./operation.ts";

/** CopyObject. The copy refers to the same content, so nothing is read or written but the index. */
export const copyObject: Operation = {
  name: "CopyObject",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const key = keyOf(context);
    const source = findCopySource(context);
    const replaceHeaders = readDirective(header(request, "x-amz-metadata-directive"), "x-amz-metadata-directive");
    const replaceTags = readDirective(header(request, "x-amz-tagging-directive"), "x-amz-tagging-directive");
    const sent = readObjectHeaders(request);
    authorizeLock(context);
    const { version } = source;
    if (source.bucket.id === bucket.id && version.key === key && !replaceHeaders && bucket.versioning !== "Enabled") {
      throw new S3Error(
        "InvalidRequest",
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
      );
    }
    context.checkRoom(bucket, version.size);
    const check = toWriteCheck(request.message.headers);
    const described = {
      key,
      size: version.size,
      etag: version.etag,
      ...readObjectAccess(context, bucket),
      lock: readObjectLock(context, bucket),
      headers: replaceHeaders ? sent : (JSON.parse(version.headers) as Record<string, string>),
      tags: replaceTags
        ? readTagHeader(request)
        : version.tags === null
          ? undefined
          : (JSON.parse(version.tags) as Record<string, string>),
      checksum: version.checksum === null ? undefined : (JSON.parse(version.checksum) as StoredChecksum),
      parts: version.parts ?? undefined,
      draft: store.versions.draft(),
    };
    const insert = (label?: WrittenFile) =>
      store.index.mutate(() => {
        // The source may have gone since it was looked up: its content must still be there to be shared.
        const content = version.content === null ? undefined : store.contents.read(version.content);
        if (version.content === null || content === undefined) {
          throw new S3Error("NoSuchKey", undefined, { details: { Key: version.key } });
        }
        store.contents.checkSound(content);
        const added = { ...described, label, content: { kind: "shared", id: version.content } as const };
        return store.versions.insert(bucket.id, added, check);
      });
    const shared = version.content === null ? undefined : store.contents.read(version.content);
    // Small content lies in the index beside its versions; of files a file says that they are this object's too.
    const copy =
      shared !== undefined && "parts" in shared
        ? await store.files.keepLabel(
            { kind: "version", bucket: bucket.name, ...described.draft, ...described, content: shared.parts },
            store.index,
            insert,
          )
        : await insert();
    setVersionHeader(context, bucket, copy.version);
    if (source.bucket.versioning !== "") {
      request.response.setHeader("x-amz-copy-source-version-id", version.version);
    }
    sendXml(request, "CopyObjectResult", {
      LastModified: new Date(copy.modified).toISOString(),
      ETag: `"${copy.etag}"`,
      ...toChecksumElements(copy.checksum),
    });
    store.garbage.nudge();
  },
};

function readDirective(value: string | undefined, name: string): boolean {
  if (value !== undefined && value !== "COPY" && value !== "REPLACE") {
    throw new S3Error("InvalidArgument", `${name} must be COPY or REPLACE.`);
  }
  return value === "REPLACE";
}
