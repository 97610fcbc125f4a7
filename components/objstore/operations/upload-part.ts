import { S3Error } from "../errors.ts";
import { type ReceivedBody, receiveBody } from "../protocol/body.ts";
import { openEncryption } from "../protocol/encryption.ts";
import { send } from "../protocol/request.ts";
import type { WrittenFile } from "../store/content/content-files.ts";
import type { ContentLabel } from "../store/content/content-trailer.ts";
import { DEFAULT_CHECKSUM, type Part, type Upload } from "../store/rows.ts";
import { type Operation, type OperationContext, bucketOf, keyOf } from "./operation.ts";
import { setEncryptionHeaders } from "./put-object.ts";

export const uploadPart: Operation = {
  name: "UploadPart",
  action: "s3:PutObject",
  handle: async (context) => {
    const { store, request } = context;
    const bucket = bucketOf(context);
    const { upload, number } = readPartAddress(context);
    const encryption = openEncryption(upload.encryption, request, context.keyring, { mismatch: "InvalidRequest" });
    const body = await receiveBody(request, {
      encryption,
      files: store.files,
      label: () => toPartLabel(context, upload, number),
      checkRoom: (bytes) => context.checkRoom(bucket, bytes),
      neverInline: true,
      algorithm: upload.checksum_algorithm ?? DEFAULT_CHECKSUM,
    });
    if (!("file" in body)) {
      throw new Error("a part must be a file");
    }
    const part = await commitPart(context, upload, number, body);
    request.response.setHeader("etag", `"${part.etag}"`);
    const { algorithm, value } = body.verified ?? body.checksum;
    request.response.setHeader(`x-amz-checksum-${algorithm}`, value);
    setEncryptionHeaders(request, upload.encryption);
    send(request, 200);
  },
};

/** What the content file of a part says of itself. */
export function toPartLabel(context: OperationContext, { id, key }: Upload, number: number): ContentLabel {
  return { kind: "part", bucket: bucketOf(context).name, key, upload: id, number };
}

/** @throws {S3Error} InvalidArgument, NoSuchUpload */
export function readPartAddress(context: OperationContext): { readonly upload: Upload; readonly number: number } {
  const { store, request } = context;
  const number = request.query.get("partNumber") ?? "";
  if (!/^\d{1,5}$/.test(number) || Number(number) < 1 || Number(number) > 10_000) {
    throw new S3Error("InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive", {
      details: { ArgumentName: "partNumber", ArgumentValue: number.slice(0, 100) },
    });
  }
  const upload = store.uploads.get(bucketOf(context).id, keyOf(context), request.query.get("uploadId") ?? "");
  return { upload, number: Number(number) };
}

type ReceivedPart = Pick<Extract<ReceivedBody, { file: WrittenFile }>, "file" | "settle" | "checksum">;

/** Enters a received part into its upload; its file goes when that fails. */
export async function commitPart(
  { store }: OperationContext,
  upload: Upload,
  number: number,
  body: ReceivedPart,
): Promise<Part> {
  try {
    return await store.uploads.putPart(upload, number, body.file, body.checksum.value);
  } catch (error) {
    // After an fsync that failed the index may refer to the file.
    if (!store.index.hasFailed) {
      await store.files.remove(body.file.id);
    }
    throw error;
  } finally {
    body.settle();
    store.garbage.nudge();
  }
}
