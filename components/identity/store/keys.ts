import { generateKeyPair as generateKeyPairCallback } from "node:crypto";
import { promisify } from "node:util";

import { calculateJwkThumbprint } from "jose";
import type { JWK } from "jose";

import { publishChange } from "./changes.ts";
import type { Queryable } from "./database.ts";

export type SigningAlgorithm = "RS256" | "ES256";
export const SIGNING_ALGORITHMS: readonly SigningAlgorithm[] = ["RS256", "ES256"];

export interface StoredKey {
  readonly kid: string;
  readonly alg: SigningAlgorithm;
  readonly privateJwk: JWK;
  readonly status: "active" | "passive" | "disabled";
  readonly createdAt: Date;
}

interface KeyRow {
  kid: string;
  alg: SigningAlgorithm;
  private_jwk: JWK;
  status: StoredKey["status"];
  created_at: Date;
}

const generateKeyPair = promisify(generateKeyPairCallback);

/** Keys that sign or still verify, the newest first. */
export async function listKeys(db: Queryable, realmId: string): Promise<readonly StoredKey[]> {
  const { rows } = await db.query<KeyRow>(
    `select kid, alg, private_jwk, status, created_at from signing_key
     where realm_id = $1 and status <> 'disabled' order by created_at desc, kid`,
    [realmId],
  );
  return rows.map((row) => ({
    kid: row.kid,
    alg: row.alg,
    privateJwk: row.private_jwk,
    status: row.status,
    createdAt: row.created_at,
  }));
}

/**
 * Gives the realm a new key of each algorithm to sign with. The former ones verify for as long as a token that
 * they signed can live.
 */
export async function rotateKeys(
  db: Queryable,
  realm: { readonly id: string; readonly name: string },
  tokenSeconds: number,
): Promise<void> {
  const keys = await Promise.all(SIGNING_ALGORITHMS.map(makeKey));
  // One statement: a realm is never without a key to sign with.
  await db.query(
    `with retired as (
       update signing_key set status = 'passive', retire_at = now() + make_interval(secs => $2)
       where realm_id = $1 and status = 'active')
     insert into signing_key (kid, realm_id, alg, private_jwk, status)
     select key->>'kid', $1, key->>'alg', key->'privateJwk', 'active' from jsonb_array_elements($3::jsonb) as key`,
    [realm.id, tokenSeconds, JSON.stringify(keys)],
  );
  await publishChange(db, { kind: "realm", realm: realm.name, keys: true });
}

async function makeKey(alg: SigningAlgorithm): Promise<{ kid: string; alg: SigningAlgorithm; privateJwk: JWK }> {
  const { privateKey, publicKey } =
    alg === "RS256"
      ? await generateKeyPair("rsa", { modulusLength: 2048 })
      : await generateKeyPair("ec", { namedCurve: "P-256" });
  const kid = await calculateJwkThumbprint(publicKey.export({ format: "jwk" }) as JWK);
  return { kid, alg, privateJwk: { ...(privateKey.export({ format: "jwk" }) as JWK), kid, alg, use: "sig" } };
}
