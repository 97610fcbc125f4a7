import type { ObjstoreAdmin, StorageAdmin } from "@swath/storage-admin";
import { bucketPolicy } from "@swath/storage-admin";

import type { BucketStorage } from "./bucket-storage.ts";

const KEY_TITLE = "bucket-operator";

interface ObjstoreOptions {
  readonly admin: Pick<
    ObjstoreAdmin & StorageAdmin,
    | "findBucket"
    | "createBucket"
    | "deleteBucket"
    | "findUser"
    | "putUser"
    | "deleteUser"
    | "listKeys"
    | "createKey"
    | "deleteKey"
  >;
  /** Removes every object and version of a bucket. */
  readonly empty: (bucket: string) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Buckets in the platform's own object storage, each with a user whose key opens that bucket alone. */
export function createObjstoreStorage({ admin, empty, close }: ObjstoreOptions): BucketStorage {
  const userOf = (bucket: string) => `bucket-${bucket}`;
  const removeUser = async (user: string) => {
    for (const { accessKey } of await admin.listKeys(user)) {
      await admin.deleteKey(user, accessKey);
    }
    await admin.deleteUser(user);
  };
  return {
    apply: async ({ bucketName, withKeys, made }, save) => {
      if ((await admin.findBucket(bucketName)) === undefined) {
        await admin.createBucket(bucketName);
      }
      const user = userOf(bucketName);
      if (!withKeys) {
        return;
      }
      await admin.putUser(user, bucketPolicy(bucketName, "write"));
      const keys = await admin.listKeys(user);
      const isKnown = keys.some(({ accessKey, enabled }) => accessKey === made.access && enabled);
      for (const { accessKey } of keys.filter((key) => key.accessKey !== made.access)) {
        // Of an attempt that ended before it could keep them.
        await admin.deleteKey(user, accessKey);
      }
      if (!isKnown) {
        const { accessKey: access, secretKey: secret } = await admin.createKey(user, KEY_TITLE);
        await save({ ...made, access, secret });
      }
    },
    remove: async ({ bucketName, removal }) => {
      if ((await admin.findUser(userOf(bucketName))) !== undefined) {
        await removeUser(userOf(bucketName));
      }
      if (removal === "delete" && (await admin.findBucket(bucketName)) !== undefined) {
        await empty(bucketName);
        await admin.deleteBucket(bucketName);
      }
    },
    // Any bucket name does: the account is what is tried.
    check: async () => void (await admin.findBucket(KEY_TITLE)),
    close,
  };
}
