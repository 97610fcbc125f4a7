import { S3Error } from "../errors.ts";
import { checkCopyConditions } from "../protocol/conditions.ts";
import type { Encryption } from "../protocol/encryption.ts";
import { header } from "../protocol/request.ts";
import { cryptSmall } from "../store/encryption/cipher.ts";
import type { ContentWriter } from "../store/content/content-files.ts";
import { ContentStream } from "../store/content/content-stream.ts";
import type { DigestName } from "../store/digests/digests.ts";
import type { StoredContent } from "../store/content/contents.ts";
import type { Bucket, Version } from "../store/rows.ts";
import type { ObjectStore } from "../store/store.ts";
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

interface StoredRange {
  readonly content: StoredContent | undefined;
  readonly encryption: Encryption | undefined;
  readonly start: number;
  /** Last byte, inclusive. */
  readonly end: number;
}

/** Looks up the content of a version for `work` and keeps its files until that is done, whatever becomes of the version. */
export async function whileHeld<T>(
  { contents, files }: Pick<ObjectStore, "contents" | "files">,
  version: Version,
  work: (content: StoredContent | undefined) => Promise<T>,
): Promise<T> {
  const content = version.content === null ? undefined : contents.read(version.content);
  const release = files.hold(content !== undefined && "parts" in content ? content.parts : []);
  try {
    return await work(content);
  } finally {
    release();
  }
}

/** Gives the bytes of stored content to `write`, verified and decrypted. */
export async function writeStored(
  { files }: Pick<ObjectStore, "files">,
  { content, encryption, start, end }: StoredRange,
  write: (chunk: Uint8Array) => undefined | Promise<void>,
): Promise<void> {
  if (content !== undefined && "data" in content) {
    const { data } = content;
    const plain = encryption === undefined ? data : cryptSmall(encryption.key, encryption.stored.seed, data);
    await write(plain.subarray(start, end + 1));
    return;
  }
  const stream = new ContentStream(files, content?.parts ?? [], start, end + 1, encryption?.key);
  try {
    for (let block = await stream.next(); block !== undefined; block = await stream.next()) {
      await write(block.bytes);
      stream.release(block);
    }
  } finally {
    await stream.close();
  }
}

/** Copies stored bytes into a new file, which is the caller's to finish. */
export async function copyStored(
  store: Pick<ObjectStore, "files">,
  stored: StoredRange,
  { digests, key }: { readonly digests: readonly DigestName[]; readonly key: Buffer | undefined },
): Promise<ContentWriter> {
  const writer = await store.files.create(digests, key);
  try {
    await writeStored(store, stored, (chunk) => writer.write(chunk));
    return writer;
  } catch (error) {
    await writer.discard();
    writer.settle();
    throw error;
  }
}
