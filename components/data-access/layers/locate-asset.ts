import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import type { HttpLocation, SourceLocation } from "@swath/raster";
import { parsePeerUrl } from "@swath/service";

export interface StorageSettings {
  /** Address of the object storage inside the deployment. */
  readonly url: string;
  readonly publicUrl: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Buckets that are read for whoever sees a record that names them; the catalogue is asked about any other. */
  readonly buckets: readonly string[];
}

/** Where assets may be read from. */
export interface AssetPlaces {
  readonly storage?: StorageSettings;
  /** Object storage of a provider's data offering, for its buckets alone. */
  readonly offering?: Omit<StorageSettings, "publicUrl">;
  /** Files below it may be named by items of that folder. */
  readonly folder?: string;
  /** Hosts of private networks that may be read. */
  readonly privateHosts: readonly string[];
  /** false: of other hosts nothing is read. */
  readonly allowPublicUrls?: boolean;
  /** Whether the caller may read a bucket by a record: the catalogue's word. */
  readonly mayRead?: (bucket: string) => boolean;
}

/**
 * Where an address of a catalogue record leads: buckets that the caller may read or the operator lists (with the service's own keys),
 * public addresses, files of the layers' folder. `undefined` for anything else.
 */
export function locateAsset(
  href: string,
  { storage, offering, folder, privateHosts, allowPublicUrls, mayRead }: AssetPlaces,
): SourceLocation | undefined {
  if (href.startsWith("file:") && folder !== undefined) {
    const path = toPath(href);
    if (path === undefined) {
      return undefined;
    }
    const inside = relative(folder, path);
    return inside !== "" && !inside.startsWith("..") && !isAbsolute(inside) ? { kind: "file", path } : undefined;
  }
  const offered = offering === undefined ? undefined : toObject(href, offering.url);
  if (offering !== undefined && offered !== undefined && offering.buckets.includes(offered.bucket)) {
    return toLocation(offering, offered);
  }
  if (storage !== undefined) {
    const object = toObject(href, storage.publicUrl);
    if (object === undefined && href.startsWith(`${storage.publicUrl}/`)) {
      return undefined;
    }
    if (object !== undefined && !storage.buckets.includes(object.bucket) && mayRead?.(object.bucket) !== true) {
      return undefined;
    }
    if (object !== undefined) {
      return toLocation(storage, object);
    }
  }
  return locatePublic(href, privateHosts, allowPublicUrls);
}

function toLocation(
  { url, region, accessKeyId, secretAccessKey }: Omit<StorageSettings, "publicUrl">,
  object: { readonly bucket: string; readonly key: string },
): SourceLocation {
  const { origin, prefix, socketPath } = parsePeerUrl(url);
  return {
    kind: "s3",
    endpoint: `${origin}${prefix}`,
    region,
    ...object,
    credentials: { accessKeyId, secretAccessKey },
    ...(socketPath !== undefined && { socketPath }),
  };
}

/** An address that anybody may name: of the public Internet, or of a host that the operator allows. */
export function locatePublic(
  href: string,
  privateHosts: readonly string[],
  allowPublicUrls = true,
): HttpLocation | undefined {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) {
    return undefined;
  }
  const isAllowed = privateHosts.includes(new URL(href).host);
  return isAllowed || allowPublicUrls
    ? { kind: "http", url: href, ...(isAllowed && { allowPrivate: true }) }
    : undefined;
}

/** `undefined` for files of other hosts and addresses that are no paths. */
function toPath(href: string): string | undefined {
  try {
    return fileURLToPath(href);
  } catch {
    return undefined;
  }
}

/** Where files of an item in a folder start from. */
export function folderOf(file: string): string {
  return `file://${join(dirname(file), "/")}`;
}

/** The object of the platform's storage that an address names. */
export function toObject(href: string, publicUrl: string): { bucket: string; key: string } | undefined {
  const object = parseS3(href) ?? parsePublic(href, publicUrl);
  // Addresses are made of keys, and a step upwards would lead out of the bucket.
  return object?.key.split("/").some((part) => part === "." || part === "..") === true ? undefined : object;
}

function parseS3(href: string): { bucket: string; key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(href) ?? [];
  return bucket === undefined || key === undefined ? undefined : { bucket, key };
}

function parsePublic(href: string, publicUrl: string): { bucket: string; key: string } | undefined {
  if (!href.startsWith(`${publicUrl}/`) || href.includes("?")) {
    return undefined;
  }
  const [, name, path] = /^([^/]+)\/(.+)$/.exec(href.slice(publicUrl.length + 1)) ?? [];
  try {
    return name === undefined || path === undefined
      ? undefined
      : { bucket: decodeURIComponent(name), key: decodeURIComponent(path) };
  } catch {
    return undefined;
  }
}
