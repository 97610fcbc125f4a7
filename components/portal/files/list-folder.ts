import type { FolderPage } from "./folder-page.ts";
import type { Bucket } from "./workspace-storage.ts";

export async function listFolder(
  { client, name }: Bucket,
  prefix: string,
  after: string | undefined,
): Promise<FolderPage> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const page = await client.send(
    new ListObjectsV2Command({
      Bucket: name,
      Prefix: prefix,
      Delimiter: "/",
      MaxKeys: 1000,
      ...(after !== undefined && { ContinuationToken: after }),
    }),
  );
  return {
    prefix,
    folders: (page.CommonPrefixes ?? []).flatMap(({ Prefix: key }) =>
      key === undefined ? [] : [{ key, name: key.slice(prefix.length).replace(/\/$/, "") }],
    ),
    files: (page.Contents ?? []).flatMap(({ Key: key, Size: size = 0, LastModified: modified }) =>
      // The empty object that stands for the folder itself is none of its files.
      key === undefined || key === prefix
        ? []
        : [{ key, name: key.slice(prefix.length), size, modified: (modified ?? new Date(0)).toISOString() }],
    ),
    ...(page.NextContinuationToken !== undefined && { next: page.NextContinuationToken }),
  };
}

/** Deletes everything below a prefix, a thousand at a time. Gives how many there were. */
export async function deleteFolder({ client, name }: Bucket, prefix: string, signal: AbortSignal): Promise<number> {
  const { DeleteObjectsCommand, ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  let deleted = 0;
  for (;;) {
    signal.throwIfAborted();
    const { Contents: found = [] } = await client.send(
      new ListObjectsV2Command({ Bucket: name, Prefix: prefix, MaxKeys: 1000 }),
    );
    if (found.length === 0) {
      return deleted;
    }
    const { Errors: errors = [] } = await client.send(
      new DeleteObjectsCommand({
        Bucket: name,
        Delete: { Objects: found.map(({ Key }) => ({ Key: Key ?? "" })), Quiet: true },
      }),
    );
    if (errors.length > 0) {
      throw Object.assign(new Error(`${errors[0]?.Key} could not be deleted: ${errors[0]?.Message}`), {
        name: errors[0]?.Code ?? "Error",
        $metadata: { httpStatusCode: 403 },
      });
    }
    deleted += found.length;
  }
}
