import { DeleteObjectsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";

import { type AdesSettings, findStorage, toEndpoint } from "../execution/storage.ts";
import { parseS3Url } from "../staging/in/s3-source.ts";
import { createS3Client } from "../staging/s3-client.ts";

/**
 * Removes what a job stored: everything below the folder of its catalogue, `processing-results/<job>/`.
 * @throws {Error} when the object storage refuses, or the address is no job's folder
 */
export async function removeResults(
  settings: AdesSettings,
  { owner, job, catalogUri }: { readonly owner: string; readonly job: string; readonly catalogUri: string },
): Promise<void> {
  const { bucket, key } = parseS3Url(catalogUri);
  const prefix = key.slice(0, key.lastIndexOf("/") + 1);
  // Never more than the one job's own folder, whatever the address says.
  if (!prefix.endsWith(`/${job}/`)) {
    throw new Error(`${catalogUri} is not in the folder of job ${job}`);
  }
  const endpoint = toEndpoint(await findStorage(settings, owner), bucket);
  const client = createS3Client(endpoint, { connections: 2, stallSeconds: 60 });
  try {
    for (;;) {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }));
      if (Contents.length === 0) {
        return;
      }
      const { Errors: [failed] = [] } = await client.send(
        new DeleteObjectsCommand({
          Bucket: bucket,
          Delete: { Objects: Contents.map(({ Key }) => ({ Key })), Quiet: true },
        }),
      );
      if (failed !== undefined) {
        throw new Error(`${failed.Key ?? prefix}: ${failed.Message ?? failed.Code ?? "it was not removed"}`);
      }
    }
  } finally {
    client.destroy();
  }
}
