import { decodePercent, parsePeerUrl } from "@swath/service";

import { RegistrationError } from "../queue/errors.ts";
import { createHttpReader } from "./http-reader.ts";
import { type S3Store, createS3Store } from "./s3-store.ts";
import type { PeerSettings, ReadRights, Sources, StoreSettings } from "./source-types.ts";

interface SourcesOptions {
  readonly allowPrivate: readonly string[];
  /** The first that has a bucket is asked for it. */
  readonly stores: readonly StoreSettings[];
  readonly peers: readonly PeerSettings[];
}

interface OpenStore {
  readonly settings: StoreSettings;
  readonly store: S3Store;
}

/** What an IRI may not have (RFC 3987), and what would be taken for an escape. */
const NOT_IN_HREFS = /[\s"<>\\^`{|}%]/;

/** Opens everything that may be read. */
export function openSources({ allowPrivate, stores, peers }: SourcesOptions): Sources {
  const http = createHttpReader({ allowPrivate, peers });
  const opened: readonly OpenStore[] = stores.map((settings) => ({ settings, store: createS3Store(settings) }));
  const normalize = (href: string): string => {
    for (const { settings } of opened) {
      const object = settings.publicUrl === undefined ? undefined : toObject(href, settings.publicUrl);
      if (object !== undefined) {
        return object;
      }
    }
    return href;
  };
  const storeOf = (bucket: string, { buckets }: ReadRights): OpenStore => {
    const found =
      opened.find(({ settings }) => settings.buckets?.includes(bucket)) ??
      opened.find(({ settings }) => settings.buckets === undefined);
    const isAllowed = buckets === undefined || buckets.includes(bucket) || found?.settings.isShared === true;
    if (found === undefined || !isAllowed) {
      throw new RegistrationError(
        `The bucket "${bucket}" is not one that can be read here${buckets === undefined ? "" : ` (${buckets.join(", ") || "none"})`}; put the files into the workspace's own bucket, or name a public address.`,
      );
    }
    return found;
  };
  return {
    normalize,
    read: async (href, options) => {
      const address = normalize(href);
      if (!address.startsWith("s3://")) {
        return http.read(address, options);
      }
      const { bucket, key } = parseS3Href(address);
      return storeOf(bucket, options.rights).store.get(bucket, key, options);
    },
    list: (href, { rights, signal }) => {
      const { bucket, key } = parseS3Href(normalize(href));
      return storeOf(bucket, rights).store.list(bucket, key, signal);
    },
    watch: async (href, { rights, signal }) => {
      const { bucket } = parseS3Href(normalize(href));
      const { store, settings } = storeOf(bucket, rights);
      if (settings.eventTarget === undefined) {
        return false;
      }
      await store.notify(bucket, settings.eventTarget, signal);
      return true;
    },
    toHref: (address) => {
      if (!address.startsWith("s3://") || !NOT_IN_HREFS.test(address)) {
        return address;
      }
      const { bucket, key } = parseS3Href(address);
      const publicUrl = storeOf(bucket, {}).settings.publicUrl ?? "s3:/";
      return `${publicUrl}/${bucket}/${key.split("/").map(encodeURIComponent).join("/")}`;
    },
    locate: (href, rights) => {
      const address = normalize(href);
      if (!address.startsWith("s3://")) {
        if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
          throw new RegistrationError(`${address.slice(0, 300)} is not a complete http, https or s3 address.`);
        }
        const { hostname } = new URL(address);
        return { kind: "http", url: address, ...(allowPrivate.includes(hostname) && { allowPrivate: true }) };
      }
      const { bucket, key } = parseS3Href(address);
      const { settings } = storeOf(bucket, rights);
      const { origin, prefix, socketPath } = parsePeerUrl(settings.url);
      return {
        kind: "s3",
        endpoint: `${origin}${prefix}`,
        region: settings.region,
        bucket,
        key,
        ...(settings.accessKeyId !== "" && {
          credentials: { accessKeyId: settings.accessKeyId, secretAccessKey: settings.secretAccessKey },
        }),
        ...(socketPath !== undefined && { socketPath }),
      };
    },
    close: async () => {
      await http.close();
      await Promise.all(opened.map(({ store }) => store.close()));
    },
  };
}

/** `s3://bucket/key` as its parts. @throws {RegistrationError} for anything else */
export function parseS3Href(href: string): { readonly bucket: string; readonly key: string } {
  const [, bucket, key] = /^s3:\/\/([^/?#]+)\/?(.*)$/s.exec(href) ?? [];
  if (bucket === undefined || key === undefined) {
    throw new RegistrationError(`${href.slice(0, 300)} is not an s3 address; write s3://<bucket>/<key>.`);
  }
  return { bucket, key };
}

function toObject(href: string, publicUrl: string): string | undefined {
  if (!href.startsWith(`${publicUrl}/`) || href.includes("?")) {
    return undefined;
  }
  const [, bucket, key] = /^([^/]+)\/(.*)$/s.exec(href.slice(publicUrl.length + 1)) ?? [];
  return bucket === undefined || key === undefined ? undefined : `s3://${decodePercent(bucket)}/${decodePercent(key)}`;
}
