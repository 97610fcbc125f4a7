import { hash, timingSafeEqual } from "node:crypto";

import { LRUCache } from "lru-cache";

/** Day, region and service that a signature holds for. */
export interface CredentialScope {
  readonly accessKey: string;
  /** YYYYMMDD */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

/** Reads `<access key>/<day>/<region>/<service>/aws4_request`; an access key may hold slashes. */
function parseCredential(text: string): CredentialScope | undefined {
  const match = /^(.+)\/(\d{8})\/([^/]*)\/([^/]+)\/aws4_request$/.exec(text);
  const [, accessKey, day, region, service] = match ?? [];
  return accessKey === undefined || day === undefined || region === undefined || service === undefined
    ? undefined
    : { accessKey, day, region, service };
}

export function toScope({ day, region, service }: CredentialScope): string {
  return `${day}/${region}/${service}/aws4_request`;
}

const BLOCK = 64;

/** A key of HMAC-SHA-256 (RFC 2104) as its two padded blocks. */
export interface HmacKey {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

export function toHmacKey(key: Buffer | string): HmacKey {
  const provided = Buffer.from(key);
  const short = provided.length > BLOCK ? hash("sha256", provided, "buffer") : provided;
  const inner = Buffer.alloc(BLOCK, 0x36);
  const outer = Buffer.alloc(BLOCK, 0x5c);
  for (let at = 0; at < short.length; at += 1) {
    inner[at] = (inner[at] as number) ^ (short[at] as number);
    outer[at] = (outer[at] as number) ^ (short[at] as number);
  }
  return { inner, outer };
}

/**
 * HMAC-SHA-256 by two one-shot digests: a third of the time of `createHmac`, which makes a key object each time, and a request
 * needs one.
 */
export function hmac({ inner, outer }: HmacKey, text: string): Buffer {
  return finish(inner, outer, text, "buffer");
}

/** The same in hexadecimal. */
export function hmacHex({ inner, outer }: HmacKey, text: string): string {
  return finish(inner, outer, text, "hex");
}

function finish(inner: Buffer, outer: Buffer, text: string, encoding: "buffer"): Buffer;
function finish(inner: Buffer, outer: Buffer, text: string, encoding: "hex"): string;
function finish(inner: Buffer, outer: Buffer, text: string, encoding: "buffer" | "hex"): Buffer | string {
  // As text of one-byte characters: buffers are slow to make and slow to collect.
  const digest = hash("sha256", joinKey(inner, text), "binary");
  OUTER.set(outer);
  OUTER.write(digest, BLOCK, "latin1");
  return hash("sha256", OUTER, encoding);
}

/** What is hashed next lies here: nothing awaits between the writing and the hashing. */
const INNER = Buffer.alloc(BLOCK + 2048);
const OUTER = Buffer.alloc(BLOCK + 32);

function joinKey(inner: Buffer, text: string): Buffer {
  // A character takes three bytes at most.
  if (text.length * 3 > INNER.length - BLOCK) {
    return Buffer.concat([inner, Buffer.from(text)]);
  }
  INNER.set(inner);
  return INNER.subarray(0, BLOCK + INNER.write(text, BLOCK));
}

export function deriveSigningKey(secret: string, { day, region, service }: CredentialScope): HmacKey {
  let key = toHmacKey(`AWS4${secret}`);
  for (const text of [day, region, service, "aws4_request"]) {
    key = toHmacKey(hmac(key, text));
  }
  return key;
}

const MAX_CACHE_ENTRIES = 1000;
const MAX_REMEMBERED = 300;

/**
 * Credentials that requests named lately, read, with their signing keys: a client names the same one all day, and deriving its key
 * takes four HMACs where a request needs only one more.
 */
export class SigningKeys {
  readonly #scopes = new LRUCache<string, CredentialScope>({ max: MAX_CACHE_ENTRIES });
  readonly #keys = new WeakMap<CredentialScope, { readonly secret: string; readonly key: HmacKey }>();

  /** `parseCredential` that gives the same scope for the same text. */
  readScope(text: string): CredentialScope | undefined {
    let scope = this.#scopes.get(text);
    if (scope === undefined) {
      scope = parseCredential(text);
      if (scope !== undefined && text.length <= MAX_REMEMBERED) {
        this.#scopes.set(text, scope);
      }
    }
    return scope;
  }

  get(secret: string, scope: CredentialScope): HmacKey {
    const known = this.#keys.get(scope);
    if (known?.secret === secret) {
      return known.key;
    }
    const key = deriveSigningKey(secret, scope);
    this.#keys.set(scope, { secret, key });
    return key;
  }
}

const HEX_LENGTH = 64;
const LEFT = Buffer.alloc(HEX_LENGTH);
const RIGHT = Buffer.alloc(HEX_LENGTH);

/** Compares two texts without telling by the time taken where they differ. */
export function equalsSafely(left: string, right: string): boolean {
  if (left.length === HEX_LENGTH && right.length === HEX_LENGTH) {
    LEFT.fill(0).write(left);
    RIGHT.fill(0).write(right);
    return timingSafeEqual(LEFT, RIGHT);
  }
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
