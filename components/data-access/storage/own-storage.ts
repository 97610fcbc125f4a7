import type { SourceLocation } from "@swath/raster";
import { Problem, parsePeerUrl } from "@swath/service";

import { toObject } from "../layers/locate-asset.ts";
import type { FindCallerKeys } from "./caller-keys.ts";

/** Objects of the platform's own storage, by the addresses that users know them by. */
export interface OwnStorage {
  /**
   * Where such an address leads, with the rights of the caller: of a login, of a signature in the address, else of anonymous callers. Never with
   * those of this service. `undefined` for addresses that are not of the storage.
   * @throws {Problem} 400, 401, 503
   */
  readonly locate: (url: string, authorization: string | undefined) => Promise<SourceLocation | undefined>;
}

interface OwnStorageOptions {
  /** Inside the deployment. */
  readonly url: string;
  readonly publicUrl: string;
  readonly region: string;
  readonly findKeys: FindCallerKeys;
}

const SIGNATURES = ["X-Amz-Signature", "Signature"];

export function createOwnStorage({ url: internalUrl, publicUrl, region, findKeys }: OwnStorageOptions): OwnStorage {
  const { origin, prefix, socketPath } = parsePeerUrl(internalUrl);
  const inside = { endpoint: `${origin}${prefix}`, ...(socketPath !== undefined && { socketPath }) };
  return {
    locate: async (url, authorization) => {
      const named = findAddress(url, publicUrl, internalUrl);
      if (named === undefined) {
        return undefined;
      }
      if (named.search !== "") {
        const { path, host, search } = named;
        return {
          kind: "http",
          url: `${inside.endpoint}${path}${search}`,
          // The signature is of the host as its user knows it.
          headers: { host },
          allowPrivate: true,
          ...(socketPath !== undefined && { socketPath }),
        };
      }
      const object = toObject(named.address, publicUrl);
      if (object === undefined) {
        throw new Problem(400, "An address of the object storage must name a bucket and an object in it.");
      }
      const token = /^Bearer (\S+)$/i.exec(authorization ?? "")?.[1];
      const keys = token === undefined ? undefined : await findKeys(token);
      const { accessKeyId, secretAccessKey, sessionToken } = keys ?? {};
      return {
        kind: "s3",
        ...inside,
        region,
        ...object,
        ...(accessKeyId !== undefined &&
          secretAccessKey !== undefined &&
          sessionToken !== undefined && { credentials: { accessKeyId, secretAccessKey, sessionToken } }),
      };
    },
  };
}

interface StorageAddress {
  /** `s3://bucket/key` or below the public address. */
  readonly address: string;
  readonly path: string;
  readonly host: string;
  /** The query of a signed address, else empty. */
  readonly search: string;
}

/**
 * Addresses by path and by host (`<bucket>.<storage>`), signed or not.
 * @throws {Problem} 400 for other queries: they could name another version or a part
 */
function findAddress(url: string, publicUrl: string, internalUrl: string): StorageAddress | undefined {
  if (url.startsWith("s3://")) {
    return { address: url, path: "", host: "", search: "" };
  }
  if (url.startsWith(`${internalUrl}/`) && !url.includes("?")) {
    return { address: `${publicUrl}${url.slice(internalUrl.length)}`, path: "", host: "", search: "" };
  }
  if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
    return undefined;
  }
  const storage = new URL(publicUrl);
  const { host, pathname, searchParams, search, username } = new URL(url);
  const prefix = storage.pathname.replace(/\/+$/, "");
  const bucket = host.endsWith(`.${storage.host}`) ? host.slice(0, -storage.host.length - 1) : undefined;
  if (username !== "" || !(host === storage.host ? pathname.startsWith(`${prefix}/`) : bucket !== undefined)) {
    return undefined;
  }
  if (search !== "" && !SIGNATURES.some((name) => searchParams.has(name))) {
    throw new Problem(400, "An address of the object storage has no query here, or that of a signed address.");
  }
  const path = bucket === undefined ? pathname.slice(prefix.length) : `/${bucket}${pathname}`;
  return { address: `${publicUrl}${path}`, path: pathname, host, search };
}
