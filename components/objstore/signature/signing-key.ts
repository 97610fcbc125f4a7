import { hash, timingSafeEqual } from "node:crypto";

/** Day, region and service that a signature holds for. */
export interface CredentialScope {
  readonly accessKey: string;
  /** YYYYMMDD */
  readonly day: string;
  readonly region: string;
  readonly service: string;
}

/** Reads `<access key>/<day>/<region>/<service>/aws4_request`; an access key may hold slashes. */
export function parseCredential(text: string): CredentialScope | undefined {
  const match = /^(.+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request$/.exec(text);
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
  const given = Buffer.from(key);
  const short = given.length > BLOCK ? hash("sha256", given, "buffer") : given;
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
  const digest = hash("sha256", Buffer.concat([inner, Buffer.from(text)]), "buffer");
  return hash("sha256", Buffer.concat([outer, digest], BLOCK + 32), encoding);
}

export function deriveSigningKey(secret: string, { day, region, service }: CredentialScope): HmacKey {
  let key = toHmacKey(`AWS4${secret}`);
  for (const text of [day, region, service, "aws4_request"]) {
    key = toHmacKey(hmac(key, text));
  }
  return key;
}

/** Keeps the signing keys of the last few credentials: deriving one takes four HMACs, a request needs only one more. */
export class SigningKeys {
  readonly #keys = new Map<string, HmacKey>();

  get(secret: string, scope: CredentialScope): HmacKey {
    const name = `${secret}\n${toScope(scope)}`;
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = deriveSigningKey(secret, scope);
      if (this.#keys.size >= 1000) {
        this.#keys.clear();
      }
      this.#keys.set(name, key);
    }
    return key;
  }
}

/** Compares two texts without telling by the time taken where they differ. */
export function equalsSafely(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
