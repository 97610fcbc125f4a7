import type { IncomingHttpHeaders } from "node:http";

import { S3Error } from "../errors.ts";
import type { Parameters } from "../protocol/query.ts";
import type { RawTarget } from "./canonical-request.ts";
import type { Payload } from "./payload.ts";
import { type SigningKeys, equalsSafely } from "./signing-key.ts";

/** How far the clock of a client may be off, in milliseconds. */
export const MAXIMUM_SKEW = 15 * 60 * 1000;
/** How long a signed address may count, in seconds. */
export const MAXIMUM_EXPIRES = 7 * 24 * 3600;

/** A key pair as far as verifying a signature needs it. */
export interface Credential {
  readonly secret: string;
  /** Session token that must come along. */
  readonly token: string | null;
  readonly expires: number | null;
}

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** The query once more, to look into; of several of one name the last. */
  readonly parameters: Parameters;
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as their lines came. */
  readonly rawHeaders?: readonly string[];
  readonly raw?: RawTarget;
  /** Bucket that the host named. */
  readonly hostBucket?: string | undefined;
}

export interface AuthenticateDeps<C extends Credential> {
  readonly findCredential: (accessKey: string) => C | undefined;
  /** A second secret of an access key whose secret is being changed. */
  readonly findOther?: (accessKey: string) => C | undefined;
  readonly keys: SigningKeys;
  readonly region: string;
  readonly now: () => number;
  /** Accepts Signature Version 2 in the Authorization header as well; in queries and forms it always counts. */
  readonly version2?: boolean;
}

export interface Authenticated<C> {
  readonly accessKey: string;
  readonly credential: C;
  readonly payload: Payload;
  readonly authType: "REST-HEADER" | "REST-QUERY-STRING";
}

export function findValid<C extends Credential>(accessKey: string, { findCredential, now }: AuthenticateDeps<C>): C {
  const credential = findCredential(accessKey);
  if (credential === undefined) {
    throw new S3Error("InvalidAccessKeyId", undefined, { details: { AWSAccessKeyId: accessKey.slice(0, 128) } });
  }
  if (credential.expires !== null && credential.expires <= now()) {
    throw new S3Error("ExpiredToken");
  }
  return credential;
}

export function checkToken(credential: Credential, token: string | undefined): void {
  if (credential.token === null ? token !== undefined && token !== "" : !equalsSafely(credential.token, token ?? "")) {
    throw new S3Error("InvalidToken");
  }
}

/** What was parsed last: the requests of one second, and all uses of a signed address, name the same time. */
let lastTime: { readonly text: string; readonly at: number | undefined } = { text: "", at: undefined };

/** YYYYMMDD'T'HHMMSS'Z' as milliseconds. */
export function parseTime(text: string): number | undefined {
  if (text !== lastTime.text) {
    lastTime = { text, at: calculateTime(text) };
  }
  return lastTime.at;
}

function calculateTime(text: string): number | undefined {
  if (!/^\d{8}T\d{6}Z$/.test(text)) {
    return undefined;
  }
  const read = (from: number, to: number) => Number(text.slice(from, to));
  const [month, day, hour, minute, second] = [read(4, 6), read(6, 8), read(9, 11), read(11, 13), read(13, 15)];
  const isTime = month >= 1 && month <= 12 && day >= 1 && day <= 31 && hour < 24 && minute < 60 && second < 60;
  return isTime ? Date.UTC(read(0, 4), month - 1, day, hour, minute, second) : undefined;
}

export function single(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" || value === undefined ? value : value[0];
}
