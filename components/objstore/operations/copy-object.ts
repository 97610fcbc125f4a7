import { S3Error } from "../errors.ts";
import { toChecksumElements, toChecksumName } from "../protocol/checksums.ts";
import { toWriteCheck } from "../protocol/conditions.ts";
import { type Encryption, openEncryption, readEncryption } from "../protocol/encryption.ts";
import { header, sendXml } from "../protocol/request.ts";
import { STORAGE_CLASS_HEADER } from "../protocol/storage-class.ts";
import type { WrittenFile } from "../store/content/content-files.ts";
import type { StoredContent } from "../store/content/contents.ts";
import { DEFAULT_CHECKSUM, type StoredChecksum, type Version } from "../store/rows.ts";
import type { NewVersion } from "../store/versions.ts";
import { readObjectAccess } from "./acl.ts";
import { findCopySource, whileHeld, writeStored } from "./copy-source.ts";
import { authorizeLock, readObjectLock } from "./object-lock.ts";
import { setEncryptionHeaders } from "./put-object.ts";
import {
  type Operation,
  type OperationContext,
  bucketOf,
  keyOf,
  originOf,
  readObjectHeaders,
  readTagHeader,
  setVersionHeader,
} from "./operation.ts";

/** What a copy onto itself may be for, besides other metadata. */
const CHANGING = [
  "x-amz-server-side-encryption",
  "x-amz-server-side-encryption-customer-algorithm",
  STORAGE_CLASS_HEADER,
];

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
    const isUnchanged = !replaceHeaders && CHANGING.every((name) => header(request, name) === undefined);
    if (source.bucket.id === bucket.id && version.key === key && isUnchanged && bucket.versioning !== "Enabled") {
      throw new S3Error(
        "InvalidRequest",
        "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
      );
    }
    context.checkRoom(bucket, version.size);
    const from = openEncryption(version.encryption, request, context.keyring, { prefix: "x-amz-copy-source-" });
    const to = readEncryption(request, bucket.encryption, context.keyring);
    const check = toWriteCheck(request.message.headers);
    const described = {
      key,
      size: version.size,
      etag: version.etag,
      ...readObjectAccess(context, bucket),
      lock: readObjectLock(context, bucket),
      headers: replaceHeaders ? sent : toCopiedHeaders(version, sent),
      tags: replaceTags
        ? readTagHeader(request)
        : version.tags === null
          ? undefined
          : (JSON.parse(version.tags) as Record<string, string>),
      checksum: version.checksum === null ? undefined : (JSON.parse(version.checksum) as StoredChecksum),
      parts: version.parts ?? undefined,
      draft: store.versions.draft(),
    };
    const event = { name: "ObjectCreated:Copy", origin: originOf(context) } as const;
    const rewritten =
      from === undefined && to === undefined && header(request, "x-amz-checksum-algorithm") === undefined
        ? undefined
        : await whileHeld(store, version, (content) => rewrite(context, content, { from, to, described }));
    const insert = (label?: WrittenFile) =>
      store.index.mutate(() => {
        // The source may have gone since it was looked up: its content must still be there to be shared.
        const content = version.content === null ? undefined : store.contents.read(version.content);
        if (version.content === null || content === undefined) {
          throw new S3Error("NoSuchKey", undefined, { details: { Key: version.key } });
        }
        store.contents.checkSound(content);
        const added = { ...described, label, event, content: { kind: "shared", id: version.content } as const };
        return store.versions.insert(bucket.id, added, check);
      });
    const shared =
      rewritten !== undefined || version.content === null ? undefined : store.contents.read(version.content);
    // Small content lies in the index beside its versions; of files a file says that they are this object's too.
    const copy =
      rewritten !== undefined
        ? await rewritten.keep((added) => store.versions.put(bucket, { ...added, event }, check))
        : shared !== undefined && "parts" in shared
          ? await store.files.keepLabel(
              { kind: "version", bucket: bucket.name, ...described.draft, ...described, content: shared.parts },
              store.index,
              insert,
            )
          : await insert();
    setVersionHeader(context, bucket, copy.version);
    setEncryptionHeaders(request, copy.encryption);
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

/** Headers of the source, with the storage class that the copy asks for: it is never copied. */
function toCopiedHeaders(source: Version, sent: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [STORAGE_CLASS_HEADER]: _, ...headers } = JSON.parse(source.headers) as Record<string, string>;
  const storageClass = sent[STORAGE_CLASS_HEADER];
  return storageClass === undefined ? headers : { ...headers, [STORAGE_CLASS_HEADER]: storageClass };
}

interface Rewriting {
  readonly from: Encryption | undefined;
  readonly to: Encryption | undefined;
  readonly described: Omit<NewVersion, "content" | "encryption">;
}

/** A copy whose bytes are not those of the source on the disk: encrypted otherwise, or with another checksum. */
async function rewrite(
  context: OperationContext,
  content: StoredContent | undefined,
  { from, to, described }: Rewriting,
) {
  const { store, request } = context;
  const requested = header(request, "x-amz-checksum-algorithm");
  const before = described.checksum;
  const algorithm = requested === undefined ? (before?.algorithm ?? DEFAULT_CHECKSUM) : toChecksumName(requested);
  const writer = await store.files.create(["md5", algorithm], to?.key);
  try {
    const end = described.size - 1;
    await writeStored(store, { content, encryption: from, start: 0, end }, (chunk) => writer.write(chunk));
    const { name } = bucketOf(context);
    // One file, whatever the source came in: parts and a checksum of parts are not of this object.
    const own = { ...described.draft, draft: undefined, parts: undefined, checksum: undefined, encryption: to?.stored };
    const file = await writer.finish({ kind: "object", bucket: name, algorithm, ...described, ...own });
    const value = Buffer.from(file.digests[algorithm] ?? []).toString("base64");
    const checksum = { algorithm, value, type: "FULL_OBJECT" } as const;
    const etag = Buffer.from(file.digests.md5 ?? []).toString("hex");
    const added: NewVersion = {
      ...described,
      etag,
      checksum,
      parts: undefined,
      encryption: to === undefined ? null : JSON.stringify(to.stored),
      content: { kind: "file", file },
    };
    return {
      keep: async (put: (version: NewVersion) => Promise<Version>): Promise<Version> => {
        try {
          return await put(added);
        } catch (error) {
          if (!store.index.hasFailed) {
            await writer.discard();
          }
          throw error;
        } finally {
          writer.settle();
        }
      },
    };
  } catch (error) {
    await writer.discard();
    writer.settle();
    throw error;
  }
}

function readDirective(value: string | undefined, name: string): boolean {
  if (value !== undefined && value !== "COPY" && value !== "REPLACE") {
    throw new S3Error("InvalidArgument", `${name} must be COPY or REPLACE.`);
  }
  return value === "REPLACE";
}
