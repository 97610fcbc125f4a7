/** Bytes that can be read at random: a file, or an object behind HTTP ranges. */
export interface Source {
  /** Names the content, not only the place: differs once the content has changed. */
  readonly key: string;
  /** Bytes; known once the first read has returned. */
  readonly size: number | undefined;
  /**
   * Bytes from `offset`; fewer than `length` only at the end.
   * @throws {RasterError} `not-found`, `forbidden`, `unavailable`, `changed`, `timeout`, `cancelled`
   */
  readonly read: (offset: number, length: number, signal?: AbortSignal) => Promise<Uint8Array>;
  /** Whether the content is still the one that `key` names. */
  readonly isCurrent: (signal?: AbortSignal) => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Where a raster is. Plain data, so that it can be sent to a worker. */
export type SourceLocation = FileLocation | HttpLocation | S3Location;

interface Hint {
  /** The address is that of a Zarr hierarchy, which its name need not say. */
  readonly format?: "zarr";
}

export interface FileLocation extends Hint {
  readonly kind: "file";
  readonly path: string;
}

export interface HttpLocation extends Hint {
  readonly kind: "http";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Unix socket that answers instead of the URL's host. */
  readonly socketPath?: string;
  /** Allows addresses of private networks; set it for hosts that the operator names, never for addresses from clients. */
  readonly allowPrivate?: boolean;
}

export interface S3Location extends Hint {
  readonly kind: "s3";
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  readonly key: string;
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  readonly socketPath?: string;
}

/** One line that tells locations apart without secrets, for cache keys and logs. */
export function describeLocation(location: SourceLocation): string {
  switch (location.kind) {
    case "file":
      return `file:${location.path}`;
    case "http":
      return location.url;
    case "s3":
      return `s3:${location.endpoint}/${location.bucket}/${location.key}#${location.credentials?.accessKeyId ?? ""}`;
  }
}
