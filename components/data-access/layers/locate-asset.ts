import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import type { SourceLocation } from "@swath/raster";
import { parsePeerUrl } from "@swath/service";

export interface StorageSettings {
  /** Address of the object storage inside the deployment. */
  readonly url: string;
  readonly publicUrl: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /**
   * Buckets that are read. A record can name any bucket, and the service's keys read them all: whoever may write a record could
   * otherwise read what is not theirs.
   */
  readonly buckets: readonly string[];
}

/** Where assets may be read from. */
export interface AssetPlaces {
  readonly storage?: StorageSettings;
  /** Files below it may be named by items of that folder. */
  readonly folder?: string;
  /** Hosts of private networks that may be read. */
  readonly privateHosts: readonly string[];
}

/**
 * Where an address of a catalogue record leads: the buckets that the operator lists (with the service's own keys), public addresses, files of the layers' folder. `undefined` for anything else.
 */
export function locateAsset(href: string, { storage, folder, privateHosts }: AssetPlaces): SourceLocation | undefined {
  if (href.startsWith("file:") && folder !== undefined) {
    const path = fileURLToPath(href);
    const inside = relative(folder, path);
    return inside !== "" && !inside.startsWith("..") && !isAbsolute(inside) ? { kind: "file", path } : undefined;
  }
  if (storage !== undefined) {
    const object = toObject(href, storage.publicUrl);
    if (object !== undefined && !storage.buckets.includes(object.bucket)) {
      return undefined;
    }
    if (object !== undefined) {
      const { origin, prefix, socketPath } = parsePeerUrl(storage.url);
      return {
        kind: "s3",
        endpoint: `${origin}${prefix}`,
        region: storage.region,
        ...object,
        credentials: { accessKeyId: storage.accessKeyId, secretAccessKey: storage.secretAccessKey },
        ...(socketPath !== undefined && { socketPath }),
      };
    }
  }
  return locatePublic(href, privateHosts);
}

/** An address that anybody may name: of the public Internet, or of a host that the operator allows. */
export function locatePublic(href: string, privateHosts: readonly string[]): SourceLocation | undefined {
  if (!/^https?:\/\//i.test(href) || !URL.canParse(href)) {
    return undefined;
  }
  return { kind: "http", url: href, ...(privateHosts.includes(new URL(href).host) && { allowPrivate: true }) };
}

/** Where files of an item in a folder start from. */
export function folderOf(file: string): string {
  return `file://${join(dirname(file), "/")}`;
}

function toObject(href: string, publicUrl: string): { bucket: string; key: string } | undefined {
  const [, bucket, key] = /^s3:\/\/([^/]+)\/(.+)$/.exec(href) ?? [];
  if (bucket !== undefined && key !== undefined) {
    return { bucket, key };
  }
  if (!href.startsWith(`${publicUrl}/`) || href.includes("?")) {
    return undefined;
  }
  const [, name, path] = /^([^/]+)\/(.+)$/.exec(href.slice(publicUrl.length + 1)) ?? [];
  return name === undefined || path === undefined
    ? undefined
    : { bucket: decodeURIComponent(name), key: decodeURIComponent(path) };
}
