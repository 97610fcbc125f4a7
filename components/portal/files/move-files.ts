import type { S3Client } from "@aws-sdk/client-s3";
import { Problem } from "@swath/service";

import type { Bucket } from "./workspace-storage.ts";

/** Files that one request moves: each is copied inside the object storage. */
const MAX_MOVED_FILES = 5000;
const CONCURRENCY = 8;

interface Move {
  /** A file's key, or a folder's prefix with its slash. */
  readonly from: string;
  readonly to: string;
}

/**
 * Renames or moves a file, or a folder with everything in it: copies first, deletes when every copy is there, so that a move that
 * breaks off loses nothing. Gives how many files were moved.
 * @throws {Problem} 400 for keys that do not fit each other, 404 without such files, 412 where the target exists, 413 for too many
 */
export async function moveFiles({ client, name }: Bucket, { from, to }: Move, signal: AbortSignal): Promise<number> {
  checkMove(from, to);
  const isFolder = from.endsWith("/");
  const keys = await listKeys(client, name, from, isFolder, signal);
  if (keys.length === 0) {
    throw new Problem(404, `There is no ${isFolder ? "folder" : "file"} ${from}.`);
  }
  if ((await listKeys(client, name, to, isFolder, signal)).length > 0) {
    throw new Problem(412, `${to} exists already; choose another name, or delete it first.`);
  }
  const { CopyObjectCommand, DeleteObjectsCommand } = await import("@aws-sdk/client-s3");
  const rest = [...keys];
  const copyNext = async (): Promise<void> => {
    for (let key = rest.shift(); key !== undefined; key = rest.shift()) {
      const CopySource = `${name}/${key.split("/").map(encodeURIComponent).join("/")}`;
      await client.send(new CopyObjectCommand({ Bucket: name, CopySource, Key: to + key.slice(from.length) }), {
        abortSignal: signal,
      });
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, copyNext));
  for (let start = 0; start < keys.length; start += 1000) {
    const Objects = keys.slice(start, start + 1000).map((Key) => ({ Key }));
    const { Errors: errors = [] } = await client.send(
      new DeleteObjectsCommand({ Bucket: name, Delete: { Objects, Quiet: true } }),
    );
    if (errors[0] !== undefined) {
      throw new Problem(409, `${to} is there, but ${errors[0].Key} could not be deleted: ${errors[0].Message}`);
    }
  }
  return keys.length;
}

function checkMove(from: string, to: string): void {
  const isKey = (key: string) =>
    key !== "" && !key.startsWith("/") && !key.includes("//") && Buffer.byteLength(key) <= 1024;
  if (!isKey(from) || !isKey(to) || from.endsWith("/") !== to.endsWith("/")) {
    throw new Problem(
      400,
      "from and to must be two file names, or two folders with a slash at the end; names have no empty parts and at most 1024 bytes.",
    );
  }
  if (to === from || (from.endsWith("/") && to.startsWith(from))) {
    throw new Problem(400, `${from} cannot be moved into itself.`);
  }
}

async function listKeys(
  client: S3Client,
  bucket: string,
  key: string,
  isFolder: boolean,
  abortSignal: AbortSignal,
): Promise<readonly string[]> {
  const { HeadObjectCommand, ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  if (!isFolder) {
    return client.send(new HeadObjectCommand({ Bucket: bucket, Key: key }), { abortSignal }).then(
      () => [key],
      (error: unknown) => {
        if (error instanceof Error && error.name === "NotFound") {
          return [];
        }
        throw error;
      },
    );
  }
  const keys: string[] = [];
  let after: string | undefined;
  do {
    const page = await client.send(
      new ListObjectsV2Command({
        Bucket: bucket,
        Prefix: key,
        ...(after !== undefined && { ContinuationToken: after }),
      }),
      { abortSignal },
    );
    keys.push(...(page.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key])));
    if (keys.length > MAX_MOVED_FILES) {
      throw new Problem(
        413,
        `${key} holds more than ${MAX_MOVED_FILES} files; move it in parts, or with an S3 program.`,
      );
    }
    after = page.NextContinuationToken;
  } while (after !== undefined);
  return keys;
}
