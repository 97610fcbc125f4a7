/** Signatures with a key pair only: with a shared secret everyone who can verify can also sign. `none` is not one of them. */
export const KEY_PAIR_ALGORITHMS: readonly string[] = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
