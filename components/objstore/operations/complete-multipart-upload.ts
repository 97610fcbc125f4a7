import { S3Error } from "../errors.ts";
import { readDocument } from "../protocol/body.ts";
import { toChecksumElements } from "../protocol/checksums.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { openEncryption } from "../protocol/encryption.ts";
import { header, sendXml } from "../protocol/request.ts";
import { childrenOf, parseLargeXml, textOf } from "../protocol/xml.ts";
import { DEFAULT_CHECKSUM, type Version } from "../store/rows.ts";
import { encodePath } from "../signature/canonical-request.ts";
import { type Operation, type OperationContext, bucketOf, keyOf, originOf, setVersionHeader } from "./operation.ts";
import { setEncryptionHeaders } from "./put-object.ts";

export const completeMultipartUpload: Operation = {
  name: "CompleteMultipartUpload",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const key = keyOf(context);
    const id = request.query.get("uploadId") ?? "";
    const done = store.uploads.findCompleted(bucket, key, id);
    const upload = done === undefined ? store.uploads.get(bucket.id, key, id) : undefined;
    const name = upload?.checksum_algorithm ?? DEFAULT_CHECKSUM;
    // Checksum headers of this request speak of the whole object, not of the document.
    const whole = header(request, `x-amz-checksum-${name}`);
    for (const each of Object.keys(request.message.headers).filter((item) => item.startsWith("x-amz-checksum-"))) {
      delete request.message.headers[each];
    }
    if (done !== undefined) {
      // The client did not hear of it the first time.
      await readDocument(request, 4 << 20);
      response(context, done);
      return;
    }
    if (upload !== undefined && upload.checksum_algorithm !== null) {
      // The checksum of encrypted parts tells something of them: who has the key may have it made.
      openEncryption(upload.encryption, request, context.keyring, { mismatch: "InvalidRequest" });
    }
    const document = await parseLargeXml((await readDocument(request, 4 << 20)).toString(), "CompleteMultipartUpload");
    const named = childrenOf(document, "Part");
    if (named.length === 0 || named.length > 10_000) {
      throw new S3Error("MalformedXML");
    }
    const parts = named.map((part) => {
      const number = textOf(part, "PartNumber") ?? "";
      const etag = textOf(part, "ETag")?.replaceAll('"', "").trim();
      if (!/^\d{1,5}$/.test(number) || etag === undefined) {
        throw new S3Error("MalformedXML");
      }
      return {
        number: Number(number),
        etag,
        checksum: textOf(part, `Checksum${name.toUpperCase()}`),
      };
    });
    const size = header(request, "x-amz-mp-object-size");
    const version = await store.uploads.complete(bucket, key, id, {
      parts,
      checksum: whole,
      size: size === undefined ? undefined : Number(size),
      check: toWriteCheck(request.message.headers),
      origin: originOf(context),
    });
    response(context, version);
    store.garbage.nudge();
  },
};

function response(context: OperationContext, version: Version): void {
  const { request, publicUrl } = context;
  const bucket = bucketOf(context);
  setVersionHeader(context, bucket, version.version);
  setEncryptionHeaders(request, version.encryption);
  sendXml(request, "CompleteMultipartUploadResult", {
    Location: `${publicUrl}/${bucket.name}/${encodePath(version.key)}`,
    Bucket: bucket.name,
    Key: version.key,
    ETag: `"${version.etag}"`,
    ...toChecksumElements(version.checksum),
  });
}
