export { type Access, bucketPolicy } from "./bucket-policies.ts";
export { emptyBucket } from "./empty-bucket.ts";
export {
  type AccessKey,
  type BucketState,
  type ObjstoreAdmin,
  type StorageAdmin,
  type StorageRole,
  createObjstoreAdmin,
} from "./objstore-admin.ts";
export { type StorageOptions, withStorageClient } from "./storage-client.ts";
