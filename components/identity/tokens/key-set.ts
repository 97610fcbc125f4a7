import { type JsonWebKeyInput, createPrivateKey, createPublicKey } from "node:crypto";

import { type CryptoKey, type JWK, errors, exportJWK, importJWK } from "jose";

import { SIGNING_ALGORITHMS, type SigningAlgorithm, type StoredKey } from "../store/keys.ts";
import { type Signer, createSigner } from "./sign-compact.ts";
import { type Claims, verifyCompact } from "./verify-compact.ts";

interface LoadedKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly active: boolean;
  readonly sign: Signer;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/** A realm's signing keys, ready for use. */
export interface KeySet {
  /** What `certs` publishes. */
  readonly publicJwks: { readonly keys: readonly JWK[] };
  /** Private keys in the form the protocol engine takes. */
  readonly privateJwks: { readonly keys: readonly JWK[] };
  /** A compact JWS (RFC 7515 §3.1) by the active key of the algorithm. */
  readonly sign: (alg: SigningAlgorithm, typ: string, claims: object) => Promise<string>;
  /** The payload when the signature is that of one of the keys, by the algorithm of that key. */
  readonly verify: (token: string) => Promise<Claims | undefined>;
}

export async function loadKeySet(stored: readonly StoredKey[]): Promise<KeySet> {
  const loaded = await Promise.all(stored.map(loadKey));
  const byId = new Map(loaded.map((key) => [key.kid, key]));
  // The newest comes first, and signs.
  const active = new Map(loaded.toReversed().flatMap((key) => (key.active ? [[key.alg, key] as const] : [])));
  return {
    publicJwks: { keys: loaded.map(({ publicJwk }) => publicJwk) },
    privateJwks: { keys: stored.map(({ privateJwk }) => privateJwk) },
    sign: async (alg, typ, claims) => {
      const key = active.get(alg);
      if (key === undefined) {
        throw new Error(`the realm has no active ${alg} key; rotate its keys`);
      }
      return key.sign(typ, claims);
    },
    verify: (token) =>
      verifyCompact(token, SIGNING_ALGORITHMS, ({ kid, alg }) => {
        const key = kid === undefined ? undefined : byId.get(kid);
        // The key decides the algorithm, never the token: no "none", no HMAC with a public key.
        if (key === undefined || alg !== key.alg) {
          throw new errors.JWKSNoMatchingKey();
        }
        return key.publicKey;
      }),
  };
}

async function loadKey({ kid, alg, privateJwk, status }: StoredKey): Promise<LoadedKey> {
  const key = createPrivateKey({ key: privateJwk, format: "jwk" } as JsonWebKeyInput);
  const publicJwk = await exportJWK(createPublicKey(key));
  return {
    kid,
    alg,
    active: status === "active",
    sign: createSigner({ alg, kid, key }),
    publicKey: (await importJWK(publicJwk, alg)) as CryptoKey,
    publicJwk: { ...publicJwk, kid, alg, use: "sig" },
  };
}
