import { S3Error } from "../errors.ts";
import { openEncryption } from "../protocol/encryption.ts";
import { header, sendXml } from "../protocol/request.ts";
import { DEFAULT_CHECKSUM } from "../store/rows.ts";
import { copyStored, findCopySource, whileHeld } from "./copy-source.ts";
import { type Operation, bucketOf } from "./operation.ts";
import { setEncryptionHeaders } from "./put-object.ts";
import { commitPart, readPartAddress, toPartLabel } from "./upload-part.ts";

/** UploadPartCopy: reads the source and writes it anew, because the part needs its own digest. */
export const uploadPartCopy: Operation = {
  name: "UploadPartCopy",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const { upload, number } = readPartAddress(context);
    const { version } = findCopySource(context);
    const { start, end } = readCopyRange(header(request, "x-amz-copy-source-range"), version.size);
    context.checkRoom(bucketOf(context), end - start + 1);
    const algorithm = upload.checksum_algorithm ?? DEFAULT_CHECKSUM;
    const { keyring } = context;
    const source = openEncryption(version.encryption, request, keyring, { prefix: "x-amz-copy-source-" });
    const target = openEncryption(upload.encryption, request, keyring, { mismatch: "InvalidRequest" });
    const writer = await whileHeld(store, version, (content) =>
      copyStored(store, { content, encryption: source, start, end }, { digests: ["md5", algorithm], key: target?.key }),
    );
    try {
      const file = await writer.finish(toPartLabel(context, upload, number));
      const value = Buffer.from(file.digests[algorithm] ?? []).toString("base64");
      const checksum = { algorithm, value, type: "FULL_OBJECT" } as const;
      const part = await commitPart(context, upload, number, { checksum, file, settle: writer.settle });
      setEncryptionHeaders(request, upload.encryption);
      sendXml(request, "CopyPartResult", {
        LastModified: new Date(part.modified).toISOString(),
        ETag: `"${part.etag}"`,
        [`Checksum${algorithm.toUpperCase()}`]: value,
      });
    } catch (error) {
      await writer.discard();
      writer.settle();
      throw error;
    }
  },
};

function readCopyRange(text: string | undefined, size: number): { start: number; end: number } {
  if (text === undefined) {
    return { start: 0, end: size - 1 };
  }
  const match = /^bytes=(\d+)-(\d+)$/.exec(text);
  const [start, end] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || start > end) {
    throw new S3Error(
      "InvalidArgument",
      "The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the zero-based offsets of the first and last bytes to copy",
    );
  }
  if (end >= size) {
    throw new S3Error("InvalidRange", `Range specified is not valid for source object of size: ${size}`);
  }
  return { start, end };
}
