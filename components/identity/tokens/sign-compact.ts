import { type KeyObject, createHmac, createSecretKey, sign, timingSafeEqual } from "node:crypto";

import type { SigningAlgorithm } from "../store/keys.ts";
import { decodeBase64Url, encodeJson } from "./base64url.ts";

interface SigningKey {
  readonly alg: SigningAlgorithm;
  readonly kid: string;
  readonly key: KeyObject;
}

/** Signs claims: a compact JWS (RFC 7515 §3.1) of the `typ` given. */
export type Signer = (typ: string, claims: object) => string | Promise<string>;

/**
 * The one thing about tokens that is not left to `jose`: it signs by WebCrypto, in a thread, and encodes the header anew every time,
 * which costs processor time (ARCHITECTURE.md, "Tokens"), and signing is what the token endpoint is busy with.
 */
export function createSigner({ alg, kid, key }: SigningKey): Signer {
  const headers = new Map<string, string>();
  return (typ, claims) => {
    let header = headers.get(typ);
    if (header === undefined) {
      header = encodeJson({ alg, typ, kid });
      headers.set(typ, header);
    }
    const input = `${header}.${encodeJson(claims)}`;
    const signature = signBytes(alg, key, input);
    const finish = (bytes: Buffer) => `${input}.${bytes.toString("base64url")}`;
    return signature instanceof Promise ? signature.then(finish) : finish(signature);
  };
}

/** Signatures by a secret, which only this service checks: the same work as making them, and the same reason. */
export function createSecretSigner(secret: string, typ: string) {
  const key = createSecretKey(secret, "utf8");
  const header = encodeJson({ alg: "HS256", typ });
  const mac = (input: string) => createHmac("sha256", key).update(input).digest();
  return {
    sign: (claims: object): string => {
      const input = `${header}.${encodeJson(claims)}`;
      return `${input}.${mac(input).toString("base64url")}`;
    },
    /** Whether this secret signed a token, with this header and in this spelling. */
    isSigned: (token: string): boolean => {
      const end = token.lastIndexOf(".");
      const provided = decodeBase64Url(token.slice(end + 1));
      const requested = mac(token.slice(0, Math.max(end, 0)));
      return (
        token.startsWith(`${header}.`) && provided?.length === requested.length && timingSafeEqual(provided, requested)
      );
    },
  };
}

function signBytes(alg: SigningAlgorithm, key: KeyObject, input: string): Buffer | Promise<Buffer> {
  switch (alg) {
    case "ES256":
      // 30 µs: less than the way to a worker thread and back.
      return sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" });
    case "RS256":
      return new Promise((resolve, reject) => {
        sign("sha256", Buffer.from(input), key, (error, signature) => (error ? reject(error) : resolve(signature)));
      });
  }
}
