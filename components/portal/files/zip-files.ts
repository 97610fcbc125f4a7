import type { Readable } from "node:stream";

import { writeZip } from "@swath/archive";
import { Problem } from "@swath/service";

import type { Bucket } from "./workspace-storage.ts";

/** Files of one archive; the list of them is made before the first byte is sent. */
const MAX_FILES = 20_000;

export interface ZipEntry {
  readonly key: string;
  /** In the archive. */
  readonly name: string;
  readonly size: number;
  readonly modified: Date;
}

/**
 * The files of keys and folders (with their slash), named from where they lie together.
 * @throws {Problem} 404 without any, 413 for too many
 */
export async function listZipEntries(
  { client, name: bucket }: Bucket,
  keys: readonly string[],
  signal: AbortSignal,
): Promise<readonly ZipEntry[]> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  const entries: ZipEntry[] = [];
  for (const chosen of keys) {
    const base = chosen.replace(/\/$/, "").lastIndexOf("/") + 1;
    let after: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: chosen,
          // Of a single file only itself is taken; its name sorts first among those that begin with it.
          ...(!chosen.endsWith("/") && { MaxKeys: 1 }),
          ...(after !== undefined && { ContinuationToken: after }),
        }),
        { abortSignal: signal },
      );
      for (const { Key: key, Size: size = 0, LastModified: modified = new Date(0) } of page.Contents ?? []) {
        if (key !== undefined && !key.endsWith("/") && (chosen.endsWith("/") || key === chosen)) {
          entries.push({ key, name: key.slice(base), size, modified });
        }
      }
      if (entries.length > MAX_FILES) {
        throw new Problem(413, `These are more than ${MAX_FILES} files; fetch them in parts, or with an S3 program.`);
      }
      after = chosen.endsWith("/") ? page.NextContinuationToken : undefined;
    } while (after !== undefined);
  }
  if (entries.length === 0) {
    throw new Problem(404, "There are no such files.");
  }
  return entries;
}

/** A zip archive of the files, sent while they are read. */
export async function* zipFiles(
  { client, name: bucket }: Bucket,
  entries: readonly ZipEntry[],
  abortSignal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { GetObjectCommand } = await import("@aws-sdk/client-s3");
  const open = async (key: string) =>
    (await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }), { abortSignal })).Body as Readable;
  yield* writeZip(entries.map(({ key, name, modified }) => ({ name, modified, content: () => open(key) })));
}
