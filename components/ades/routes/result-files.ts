import { ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";

import { OgcError } from "../errors.ts";
import { type UserStorage, toEndpoint } from "../execution/storage.ts";
import { createS3Client } from "../staging/s3-client.ts";

export const CONNECTION = { connections: 2, stallSeconds: 60 };
/** Files of one job that are listed. */
const MAX_FILES = 10_000;

/** Where the results of one job lie. */
export interface Place {
  readonly storage: UserStorage;
  readonly bucket: string;
  /** `processing-results/<job>/` */
  readonly prefix: string;
}

interface StoredFile {
  readonly name: string;
  readonly size: number;
  readonly updated: string | undefined;
}

/** What a job stored, in the order of the names. @throws {OgcError} 502 */
export async function listFiles(place: Place): Promise<readonly StoredFile[]> {
  const { bucket, prefix } = place;
  return withClient(place, async (client) => {
    const files: StoredFile[] = [];
    let token: string | undefined;
    do {
      const page = await client.send(
        new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix,
          ...(token !== undefined && { ContinuationToken: token }),
        }),
      );
      for (const { Key: key = "", Size: size = 0, LastModified: date } of page.Contents ?? []) {
        files.push({ name: key.slice(prefix.length), size, updated: date?.toISOString() });
      }
      token = page.NextContinuationToken;
    } while (token !== undefined && files.length < MAX_FILES);
    return files;
  }).catch((error: unknown) => refuse(error, prefix));
}

export async function withClient<Result>(place: Place, work: (client: S3Client) => Promise<Result>): Promise<Result> {
  const client = createS3Client(toEndpoint(place.storage, place.bucket), CONNECTION);
  try {
    return await work(client);
  } finally {
    client.destroy();
  }
}

export const noSuchFile = (path: string) => new OgcError(404, "NotFound", `The results have no file ${path}.`);

/** @throws {OgcError} 404, 416, 502 */
export function refuse(error: unknown, key: string): never {
  const path = key.replace(/^processing-results\/[^/]+\//, "");
  const { name, message, $metadata } = error as Error & { $metadata?: { httpStatusCode?: number } };
  if ($metadata?.httpStatusCode === 404) {
    throw noSuchFile(path);
  }
  if ($metadata?.httpStatusCode === 416) {
    throw new OgcError(416, "RangeNotSatisfiable", `${path} has no such part.`);
  }
  throw new OgcError(502, "InternalError", `The object storage does not give ${path}: ${name} ${message}`);
}
