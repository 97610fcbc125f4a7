import { type ObjstoreAdmin, bucketPolicy } from "@swath/storage-admin";

import { accessKeyOf } from "./access-key.ts";

/** A bucket, and the secrets of the keys that open it and nothing else. */
export interface BucketKeys {
  readonly bucket: string;
  /** Two while they are being changed. */
  readonly secrets: readonly string[];
}

const TITLE = "processing service";

/** Makes the bucket, the user who may use it alone, and the user's keys; keys of other secrets go. Doing it again changes nothing. */
export async function putBucketKeys(
  admin: Pick<ObjstoreAdmin, "findBucket" | "createBucket" | "putUser" | "putKey" | "listKeys" | "deleteKey">,
  { bucket, secrets }: BucketKeys,
): Promise<void> {
  if ((await admin.findBucket(bucket)) === undefined) {
    await admin.createBucket(bucket);
  }
  const user = `ades-${bucket}`;
  await admin.putUser(user, bucketPolicy(bucket, "write"));
  for (const secretKey of secrets) {
    await admin.putKey(user, { accessKey: accessKeyOf(secretKey), secretKey, title: TITLE });
  }
  const known = new Set(secrets.map(accessKeyOf));
  for (const { accessKey } of await admin.listKeys(user)) {
    if (!known.has(accessKey)) {
      await admin.deleteKey(user, accessKey);
    }
  }
}
