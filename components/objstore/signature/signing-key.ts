import { createHmac, timingSafeEqual } from "node:crypto";

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

export function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

export function deriveSigningKey(secret: string, { day, region, service }: CredentialScope): Buffer {
  return hmac(hmac(hmac(hmac(`AWS4${secret}`, day), region), service), "aws4_request");
}

/** Keeps the signing keys of the last few credentials: deriving one takes four HMACs, a request needs only one more. */
export class SigningKeys {
  readonly #keys = new Map<string, Buffer>();

  get(secret: string, scope: CredentialScope): Buffer {
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
