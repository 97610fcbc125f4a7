import { S3Error } from "../errors.ts";
import { toChecksumName } from "../protocol/checksums.ts";
import { readEncryption } from "../protocol/encryption.ts";
import { header, sendXml } from "../protocol/request.ts";
import { isCrc } from "../store/digests/crc-combine.ts";
import { readObjectAccess } from "./acl.ts";
import { authorizeLock, readObjectLock } from "./object-lock.ts";
import { type Operation, bucketOf, keyOf, readObjectHeaders, readTagHeader } from "./operation.ts";
import { setEncryptionHeaders } from "./put-object.ts";

export const createMultipartUpload: Operation = {
  name: "CreateMultipartUpload",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const headers = readObjectHeaders(request);
    authorizeLock(context);
    const encryption = readEncryption(request, bucket.encryption, context.keyring);
    const named = header(request, "x-amz-checksum-algorithm");
    const algorithm = named === undefined ? undefined : toChecksumName(named);
    const requested = header(request, "x-amz-checksum-type");
    if (requested !== undefined && requested !== "COMPOSITE" && requested !== "FULL_OBJECT") {
      throw new S3Error("InvalidRequest", "x-amz-checksum-type must be COMPOSITE or FULL_OBJECT.");
    }
    const isOfWhole = algorithm === undefined || isCrc(algorithm);
    if ((requested === "FULL_OBJECT" && !isOfWhole) || (requested === "COMPOSITE" && algorithm === "crc64nvme")) {
      throw new S3Error(
        "InvalidRequest",
        `The ${requested} checksum type cannot be used with the ${named} checksum algorithm.`,
      );
    }
    const type =
      algorithm === undefined ? undefined : (requested ?? (algorithm === "crc64nvme" ? "FULL_OBJECT" : "COMPOSITE"));
    const upload = {
      key: keyOf(context),
      ...readObjectAccess(context, bucket),
      lock: readObjectLock(context, bucket),
      encryption: encryption === undefined ? null : JSON.stringify(encryption.stored),
      headers,
      tags: readTagHeader(request),
      algorithm,
      type,
    } as const;
    const id = await store.uploads.create(bucket, upload);
    if (algorithm !== undefined && type !== undefined) {
      request.response.setHeader("x-amz-checksum-algorithm", algorithm.toUpperCase());
      request.response.setHeader("x-amz-checksum-type", type);
    }
    setEncryptionHeaders(request, upload.encryption);
    sendXml(request, "InitiateMultipartUploadResult", { Bucket: bucket.name, Key: upload.key, UploadId: id });
  },
};
