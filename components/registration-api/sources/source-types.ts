import type { SourceLocation } from "@swath/raster";

/** A document with its address after redirects. */
export interface SourceDocument {
  readonly href: string;
  readonly bytes: Buffer;
  readonly contentType: string;
  readonly etag?: string;
  readonly lastModified?: string;
  /** Nothing of it came: it is as `ifChangedFrom` says. */
  readonly isUnchanged?: boolean;
}

/** What a source said of a document (RFC 9110 §8.8). */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

/** Which buckets a request may read. */
export interface ReadRights {
  /** Left out: all that the deployment reads. */
  readonly buckets?: readonly string[];
}

export interface ReadOptions {
  readonly rights: ReadRights;
  readonly signal: AbortSignal;
  readonly accept?: string;
  readonly maxBytes?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** How the document was when it was read last: it comes only if it changed. */
  readonly ifChangedFrom?: Validators;
  /** Only what its source says of it comes, without its bytes. */
  readonly isHead?: boolean;
  /** Sent as POST, in JSON. */
  readonly body?: unknown;
}

/** An object of a bucket. */
export interface ListedObject {
  readonly key: string;
  readonly etag: string;
  readonly size: number;
}

export interface ListOptions {
  readonly rights: ReadRights;
  readonly signal: AbortSignal;
}

/** Everything outside of this service that is read: documents at addresses, objects of buckets. */
export interface Sources {
  /** @throws {RegistrationError} saying what the address answered or why it may not be used */
  readonly read: (href: string, options: ReadOptions) => Promise<SourceDocument>;
  /** Objects below `s3://bucket/prefix`, in the order of their keys. */
  readonly list: (href: string, options: ListOptions) => AsyncGenerator<ListedObject>;
  /**
   * Has the bucket of an address tell the registration API of its changes.
   * @returns false where its storage tells nobody
   */
  readonly watch: (href: string, options: ListOptions) => Promise<boolean>;
  /** `s3://…` for an object of the deployment's storage that is named by its public address; else the address itself. */
  readonly normalize: (href: string) => string;
  /** An address as documents may have it: of an object whose key is no part of one (blanks), the public address. */
  readonly toHref: (address: string) => string;
  /** Where a raster is, for the reader of rasters. @throws {RegistrationError} where it may not be read */
  readonly locate: (href: string, rights: ReadRights) => SourceLocation;
  readonly close: () => Promise<void>;
}

/** An S3 storage. */
export interface StoreSettings {
  /** As `createPeer` takes it. */
  readonly url: string;
  readonly publicUrl?: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Its buckets; left out: all that no other storage has. */
  readonly buckets?: readonly string[];
  /** What its buckets call the webhook of the registration API; left out: they tell nobody. */
  readonly eventTarget?: string;
  /** Its data are for everybody of the deployment, also for workspaces. */
  readonly isShared?: boolean;
}

/** Another service of the deployment, that addresses of its host lead to. */
export interface PeerSettings {
  readonly publicUrl: string;
  readonly peerUrl: string;
}
