import type { DigestName } from "./digests/digests.ts";

/** Whose an object is that somebody else uploads, and whether access control lists count. Empty: as `ObjectWriter`, unsaid. */
export type Ownership = "BucketOwnerEnforced" | "BucketOwnerPreferred" | "ObjectWriter" | "";

/** A bucket as the index holds it. Times are milliseconds since 1970; documents are stored as they came. */
export interface Bucket {
  readonly id: number;
  readonly name: string;
  readonly owner: string;
  readonly created: number;
  readonly versioning: "" | "Enabled" | "Suspended";
  readonly policy: string | null;
  readonly cors: string | null;
  readonly lifecycle: string | null;
  readonly tags: string | null;
  readonly access_block: string | null;
  readonly quota_bytes: number | null;
  /** Account that the bucket belongs to; empty: the deployment's own. */
  readonly account: string;
  readonly ownership: Ownership;
  readonly acl: string | null;
  readonly object_lock: string | null;
  readonly encryption: string | null;
  readonly payer: string | null;
  readonly logging: string | null;
  readonly notification: string | null;
  readonly website: string | null;
  readonly objects: number;
  readonly bytes: number;
  readonly upload_bytes: number;
}

/** One version of a key, or a delete marker. `headers`, `tags` and `checksum` are JSON. */
export interface Version {
  readonly key: string;
  readonly seq: number;
  readonly version: string;
  readonly marker: 0 | 1;
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
  readonly owner: string;
  readonly content: number | null;
  readonly parts: number | null;
  readonly headers: string;
  readonly tags: string | null;
  readonly checksum: string | null;
  /** File that says what this version is, where the files of its content do not. */
  readonly label: string | null;
  /** 1: a `null` version under newer ones. */
  readonly buried: 0 | 1;
  readonly acl: string | null;
  readonly lock: string | null;
  readonly encryption: string | null;
}

export interface Upload {
  readonly id: string;
  readonly bucket: number;
  readonly key: string;
  readonly initiated: number;
  readonly owner: string;
  readonly headers: string;
  readonly tags: string | null;
  readonly checksum_algorithm: ChecksumName | null;
  readonly checksum_type: "COMPOSITE" | "FULL_OBJECT" | null;
  /** Grows with every part that comes. */
  readonly changes: number;
  readonly acl: string | null;
  readonly lock: string | null;
  readonly encryption: string | null;
}

export interface Part {
  readonly number: number;
  readonly size: number;
  readonly etag: string;
  readonly modified: number;
  readonly file: string;
  readonly form: 0 | 1;
  /** Base64, by the upload's algorithm. */
  readonly checksum: string | null;
}

/** Digests that S3 offers as additional checksums. */
export type ChecksumName = DigestName;

/** What an upload gets that names no algorithm, as on Amazon S3; of the whole object, also of one that came in parts. */
export const DEFAULT_CHECKSUM = "crc64nvme" satisfies ChecksumName;

export interface StoredChecksum {
  readonly algorithm: ChecksumName;
  /** Base64; of a composite one with `-<parts>` at the end. */
  readonly value: string;
  readonly type: "COMPOSITE" | "FULL_OBJECT";
}

/** A stretch of an object's content that is one file. */
export interface ContentPart {
  readonly file: string;
  readonly size: number;
  /** 1: checksums of its blocks and what it is follow the bytes; absent in files of older releases. */
  readonly form?: 1;
  /** Part number of the multipart upload it came by. */
  readonly number?: number;
  readonly checksum?: string;
}
