import { requestJson } from "@swath/ui";

/** A request to the S3 API. The service signs it: pages never hold a secret key. */
export interface S3Request {
  readonly method: "GET" | "PUT" | "POST" | "HEAD" | "DELETE";
  readonly bucket: string;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Headers that are signed, and sent by `send`: `x-amz-copy-source`. Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How long the address is good for; ten minutes when left out. */
  readonly seconds?: number;
}

/** Addresses of requests, signed with the rights of whoever is logged in. @throws {RequestError} */
export async function signAll(requests: readonly S3Request[]): Promise<readonly string[]> {
  const body = { requests: requests.map((requested) => ({ seconds: 600, ...requested })) };
  return (await requestJson<{ urls: string[] }>("/api/presign", { method: "POST", body })).urls;
}

/** As `signAll`, for one request. @throws {RequestError} */
export async function sign(requested: S3Request): Promise<string> {
  const [url = ""] = await signAll([requested]);
  return url;
}

/**
 * Addresses in a browser lose `.` and `..` between slashes, so that objects with such names cannot be asked for here.
 */
export function isReachable(key: string): boolean {
  return !key.split("/").some((part) => /^(?:\.|%2e){1,2}$/i.test(part));
}
