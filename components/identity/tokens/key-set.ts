import { type KeyObject, createPrivateKey, createPublicKey, sign, verify } from "node:crypto";

import type { JWK } from "jose";

import type { SigningAlgorithm, StoredKey } from "../store/keys.ts";

interface LoadedKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly active: boolean;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly publicJwk: JWK;
  /** By `typ`: the protected header, encoded. */
  readonly headers: Map<string, string>;
}

/** A realm's signing keys, ready for use. */
export interface KeySet {
  /** What `certs` publishes. */
  readonly publicJwks: { readonly keys: readonly JWK[] };
  /** Private keys in the form the protocol engine takes. */
  readonly privateJwks: { readonly keys: readonly JWK[] };
  readonly algorithmOf: (kid: string) => SigningAlgorithm | undefined;
  /** A compact JWS (RFC 7515 §3.1) by the active key of the algorithm. */
  readonly sign: (alg: SigningAlgorithm, typ: string, payload: object) => Promise<string>;
  /** The payload when the signature is that of one of the keys, by the algorithm of that key. */
  readonly verify: (token: string) => Readonly<Record<string, unknown>> | undefined;
}

export function loadKeySet(stored: readonly StoredKey[]): KeySet {
  const keys = new Map(stored.map((key) => [key.kid, loadKey(key)]));
  const activeKey = (alg: SigningAlgorithm): LoadedKey => {
    const key = [...keys.values()].find((candidate) => candidate.active && candidate.alg === alg);
    if (key === undefined) {
      throw new Error(`the realm has no active ${alg} key; rotate its keys`);
    }
    return key;
  };
  const published = [...keys.values()].map(({ publicJwk }) => publicJwk);
  return {
    publicJwks: { keys: published },
    privateJwks: { keys: stored.map(({ privateJwk }) => privateJwk) },
    algorithmOf: (kid) => keys.get(kid)?.alg,
    sign: async (alg, typ, payload) => {
      const key = activeKey(alg);
      let header = key.headers.get(typ);
      if (header === undefined) {
        header = encodeJson({ alg, typ, kid: key.kid });
        key.headers.set(typ, header);
      }
      const input = `${header}.${encodeJson(payload)}`;
      return `${input}.${(await signBytes(key, Buffer.from(input))).toString("base64url")}`;
    },
    verify: (token) => {
      const parts = token.split(".");
      const [header, payload, signature] = parts;
      if (parts.length !== 3 || !header || !payload || !signature || token.length > 32_768) {
        return undefined;
      }
      const { kid, alg } = parseJson(header) ?? {};
      const key = typeof kid === "string" ? keys.get(kid) : undefined;
      // The key decides the algorithm, never the token: no "none", no HMAC with a public key.
      if (key === undefined || alg !== key.alg || !verifyBytes(key, `${header}.${payload}`, signature)) {
        return undefined;
      }
      return parseJson(payload);
    },
  };
}

function loadKey({ kid, alg, privateJwk, status }: StoredKey): LoadedKey {
  const privateKey = createPrivateKey({ key: privateJwk as Record<string, string>, format: "jwk" });
  const publicKey = createPublicKey(privateKey);
  return {
    kid,
    alg,
    active: status === "active",
    privateKey,
    publicKey,
    publicJwk: { ...(publicKey.export({ format: "jwk" }) as JWK), kid, alg, use: "sig" },
    headers: new Map(),
  };
}

function signBytes({ alg, privateKey }: LoadedKey, data: Buffer): Buffer | Promise<Buffer> {
  if (alg === "ES256") {
    // 30 µs: less than the way to a worker thread and back.
    return sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" });
  }
  return new Promise((resolve, reject) => {
    sign("sha256", data, privateKey, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
}

function verifyBytes({ alg, publicKey }: LoadedKey, input: string, signature: string): boolean {
  const bytes = decodeBase64Url(signature);
  if (bytes === undefined) {
    return false;
  }
  return verify(
    "sha256",
    Buffer.from(input),
    alg === "ES256" ? { key: publicKey, dsaEncoding: "ieee-p1363" } : publicKey,
    bytes,
  );
}

export const encodeJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The bytes of base64url as RFC 7515 §2 writes it: no padding, no other characters, no bits left over. */
export function decodeBase64Url(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}

export function parseJson(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const bytes = decodeBase64Url(text);
    if (bytes === undefined) {
      return undefined;
    }
    const value: unknown = JSON.parse(bytes.toString());
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
