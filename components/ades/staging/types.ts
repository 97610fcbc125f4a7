import type { StacCollection } from "@swath/stac";

/** What a caller names as an input. */
export interface StageInSource {
  /**
   * `http:`, `https:`, `s3:` or `data:` URL. For a directory: a STAC Item, Collection, Catalog, item collection or search
   * (`GET …/search?…`), an S3 prefix that ends in `/`, or any other file, which then lies in the directory by its name.
   */
  readonly href: string;
  /** What the process declares: a CWL `Directory` becomes a directory with `catalog.json`, a `File` one file. */
  readonly as: "directory" | "file";
  /** Media type that the caller states, asked for in `Accept`. */
  readonly mediaType?: string;
  /** What the caller knows of a file: bytes, and `sha1$<hex>` (CWL) or a multihash in hexadecimal (STAC). Both are checked. */
  readonly size?: number;
  readonly checksum?: string;
}

/** An object store and who we are there. */
export interface S3Endpoint {
  /** `https://host[:port]`, or a peer address `http+unix://…`; buckets are addressed by path. */
  readonly endpoint: string;
  readonly region: string;
  /** PEM certificate of the authority that the store's own certificate is from, when it is not a public one. */
  readonly certificateAuthority?: string;
  /** Anonymous when left out. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
}

/** Where `s3://bucket/…` leads. */
export interface S3Access extends S3Endpoint {
  /** Buckets that are found here; all when left out. The first access that fits a bucket is used. */
  readonly buckets?: readonly string[];
  /**
   * Whether the credentials are the caller's own: then only addresses that the caller names are opened with them, or that a
   * document from here or from a service of the platform names. A stranger's catalogue cannot send a job to private data.
   */
  readonly isPrivate?: boolean;
  /** Whether the caller may read a key; every key when left out. What may not be read is as if it were not there. */
  readonly mayRead?: (key: string) => Promise<boolean>;
}

/** A service of the platform: how its public addresses are reached from inside, and what is sent with it. */
export interface InternalService {
  /** Public base, `https://resource-catalogue.<domain>`; it covers itself and everything below it. */
  readonly publicUrl: string;
  /** Peer address, `http://host:port` or `http+unix://…`. */
  readonly peerUrl: string;
  /** Domain whose workspaces have hosts of the service, too: `resource-catalogue.<workspace>.<domain>`. */
  readonly workspacesOf?: string;
  /**
   * How it is asked for what is the caller's own: by which peer address, and with which headers. They are never sent to another host, not
   * even after a redirect, and not for an address that only a stranger's document or redirect names.
   */
  readonly asCaller?: { readonly peerUrl: string; readonly headers: Readonly<Record<string, string>> };
  /** Whether it is the catalogue, which leads to files of its items in the platform's storage (`…/items/{id}/assets/{key}`). */
  readonly isCatalogue?: boolean;
}

/** Bounds of one call of `stageIn`. */
export interface StageInLimits {
  /** Bytes of all files together. */
  readonly maxBytes: number;
  readonly maxFileBytes: number;
  /** Files with their metadata documents. */
  readonly maxFiles: number;
  readonly maxItems: number;
  /** Bytes of one JSON document. */
  readonly maxDocumentBytes: number;
  readonly maxRedirects: number;
  /** Seconds for everything. */
  readonly maxSeconds: number;
  /** Seconds without a byte after which a source counts as stuck. */
  readonly stallSeconds: number;
  /** Further attempts after a source broke off or answered 429 or 5xx. */
  readonly retries: number;
  /** Files at the same time. */
  readonly parallel: number;
}

/** What may be reached, and how. */
export interface SourceAccess {
  /**
   * Private, loopback and link-local addresses that are allowed all the same: `10.0.0.0/8`, `127.0.0.1/32`, `::1/128`, or a host
   * name. Every other address that is not global is refused, after resolving the name and after each redirect.
   */
  readonly allowPrivate: readonly string[];
  readonly internal: readonly InternalService[];
  readonly s3: readonly S3Access[];
  /** Limits that differ from `DEFAULT_LIMITS`. */
  readonly limits?: Partial<StageInLimits>;
  /** PEM certificates of the platform's own authority, trusted beside the public ones. */
  readonly certificateAuthority?: string;
}

/** Progress in bytes; `total` as far as sources have said it. */
export type OnProgress = (bytes: number, total?: number) => void;

export interface StageInRequest {
  readonly source: StageInSource;
  /** An own directory for this input; made if need be. What an earlier, broken attempt left there is continued. */
  readonly target: string;
  /** Keys of the assets that the package asks for; all when left out. An item that lacks one of them is an error. */
  readonly assets?: readonly string[];
  readonly access: SourceAccess;
  /** Aborting it rejects with its reason. */
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

export interface StagedInput {
  /** Absolute path: the target directory, or the one file in it. */
  readonly path: string;
  readonly kind: "directory" | "file";
  readonly bytes: number;
}

/** The bucket that results go to. */
export interface S3Target extends S3Endpoint {
  readonly bucket: string;
}

/** Where results come from: what they are derived of, and what made them. */
export interface Origin {
  /** Addresses of the inputs, without secrets. */
  readonly inputs: readonly string[];
  readonly process: string;
  readonly version: string;
}

export interface StageOutRequest {
  readonly origin?: Origin;
  /** The job's output directory: a STAC catalogue (`catalog.json`), or plain files. */
  readonly directory: string;
  readonly target: S3Target;
  /** Key prefix of this job's results, `processing-results/<job>`. */
  readonly prefix: string;
  /** Becomes the id of the collection. */
  readonly jobId: string;
  /** Title of the collection, when the output has no collection of its own. */
  readonly title?: string;
  readonly signal: AbortSignal;
  readonly onProgress?: OnProgress;
}

export interface StagedFile {
  /** Where it was here; none for documents that were made for publishing. */
  readonly path?: string;
  /** `s3://bucket/key` */
  readonly href: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** Multihash in hexadecimal, as in `file:checksum`: `1220` and the SHA-256. */
  readonly checksum: string;
}

export interface StagedOutput {
  /** `s3://bucket/processing-results/<job>/catalog.json` */
  readonly catalogUri: string;
  /** As uploaded: links and assets are `s3:` addresses; `root` leads to `catalogUri`. */
  readonly collection: StacCollection;
  /** Every uploaded object, the metadata documents with it. */
  readonly files: readonly StagedFile[];
}
