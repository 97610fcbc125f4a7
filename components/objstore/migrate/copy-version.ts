import * as s3 from "@aws-sdk/client-s3";

/** A version or a delete marker of a key. */
export interface SourceVersion {
  readonly id: string;
  readonly isMarker: boolean;
  readonly etag: string;
  readonly size: number;
}

export interface Ends {
  readonly source: s3.S3Client;
  readonly target: s3.S3Client;
}

/**
 * Copies one version with its headers, tags and locks, in the parts it came in, so that its ETag is the same.
 * @throws {Error} when the target has other bytes afterwards
 */
export async function copyVersion(Bucket: string, Key: string, version: SourceVersion, ends: Ends): Promise<void> {
  const { source, target } = ends;
  if (version.isMarker) {
    await target.send(new s3.DeleteObjectCommand({ Bucket, Key }));
    return;
  }
  const named = { Bucket, Key, ...(version.id !== "null" && { VersionId: version.id }) };
  const described = await describe(named, source);
  const parts = /-(\d+)"?$/.exec(version.etag)?.[1];
  const etag =
    parts === undefined
      ? await copyWhole(named, described, ends)
      : await copyParts(named, { described, parts: Number(parts) }, ends);
  // What the target encrypts with keys of its own may have an ETag of its own: then the size must do.
  const head = await target.send(new s3.HeadObjectCommand({ Bucket, Key }));
  const isOwn = head.ServerSideEncryption === "aws:kms";
  if (head.ContentLength !== version.size || (!isOwn && (etag !== version.etag || head.ETag !== version.etag))) {
    throw new Error(`the target has ${head.ContentLength} bytes with ETag ${head.ETag}, the source ${version.etag}`);
  }
}

type Named = Pick<s3.GetObjectCommandInput, "Bucket" | "Key" | "VersionId">;

/** What a version is told to be, in the words of a write. */
async function describe(named: Named, source: s3.S3Client) {
  const head = await source.send(new s3.HeadObjectCommand(named));
  if (head.SSECustomerAlgorithm !== undefined) {
    throw new Error("is encrypted with a customer's key, which nobody else has");
  }
  const tags = head.TagCount === undefined ? [] : ((await readTags(named, source)).TagSet ?? []);
  return {
    ContentType: head.ContentType,
    CacheControl: head.CacheControl,
    ContentDisposition: head.ContentDisposition,
    ContentEncoding: head.ContentEncoding,
    ContentLanguage: head.ContentLanguage,
    Expires: head.ExpiresString === undefined ? undefined : new Date(head.ExpiresString),
    Metadata: head.Metadata,
    ServerSideEncryption: head.ServerSideEncryption,
    StorageClass: head.StorageClass,
    Tagging:
      tags.length === 0
        ? undefined
        : new URLSearchParams(tags.map(({ Key = "", Value = "" }): [string, string] => [Key, Value])).toString(),
    ObjectLockMode: head.ObjectLockMode,
    ObjectLockRetainUntilDate: head.ObjectLockRetainUntilDate,
    ObjectLockLegalHoldStatus: head.ObjectLockLegalHoldStatus,
  } satisfies Partial<s3.PutObjectCommandInput>;
}

function readTags(named: Named, source: s3.S3Client) {
  return source.send(new s3.GetObjectTaggingCommand(named));
}

async function copyWhole(named: Named, described: object, { source, target }: Ends): Promise<string> {
  const { Body = "", ContentLength } = await source.send(new s3.GetObjectCommand(named));
  const { Bucket, Key } = named;
  const { ETag } = await target.send(new s3.PutObjectCommand({ Bucket, Key, ...described, Body, ContentLength }));
  return ETag ?? "";
}

async function copyParts(
  named: Named,
  { described, parts }: { readonly described: object; readonly parts: number },
  { source, target }: Ends,
): Promise<string> {
  const { Bucket, Key } = named;
  const { UploadId } = await target.send(new s3.CreateMultipartUploadCommand({ Bucket, Key, ...described }));
  try {
    const done: s3.CompletedPart[] = [];
    // Numbers may have gaps; only those that are there are asked for.
    for (let PartNumber = 1; done.length < parts && PartNumber <= 10_000; PartNumber += 1) {
      const part = await findPart({ ...named, PartNumber }, source);
      if (part !== undefined) {
        const { Body = "", ContentLength } = part;
        const { ETag } = await target.send(
          new s3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body, ContentLength }),
        );
        done.push({ PartNumber, ETag });
      }
    }
    const { ETag } = await target.send(
      new s3.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts: done } }),
    );
    return ETag ?? "";
  } catch (error) {
    await target.send(new s3.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    throw error;
  }
}

async function findPart(input: s3.GetObjectCommandInput, source: s3.S3Client) {
  try {
    return await source.send(new s3.GetObjectCommand(input));
  } catch (error) {
    if (error instanceof Error && ["InvalidPart", "InvalidPartNumber", "InvalidRange"].includes(error.name)) {
      return undefined;
    }
    throw error;
  }
}
