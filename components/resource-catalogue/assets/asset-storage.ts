import type { S3Signer } from "@swath/s3";

/** The platform's object storage, into which links to assets are signed. */
export interface AssetStorage {
  /** Public base URL; no slash at the end. */
  readonly endpoint: string;
  readonly signer: S3Signer;
}
