import { SignJWT, UnsecuredJWT, generateKeyPair } from "jose";
import { KeyObject, createPublicKey } from "node:crypto";

import { ISSUER, type TestProvider } from "./test-provider.ts";

/** A token that nobody signed. */
export function forgeUnsigned(): string {
  return new UnsecuredJWT({ sub: "1", aud: "account" }).setIssuer(ISSUER).setExpirationTime("1h").encode();
}

/** Tokens signed with the provider's public key taken for a shared secret, as published and without its last line break. */
export async function forgeWithPublicKey({ privateKey }: TestProvider): Promise<readonly string[]> {
  const pem = createPublicKey(KeyObject.from(privateKey)).export({ type: "spki", format: "pem" }).toString();
  return Promise.all(
    [pem, pem.trim()].map((secret) =>
      new SignJWT({ sub: "1", aud: "account" })
        .setProtectedHeader({ alg: "HS256", kid: "first" })
        .setIssuer(ISSUER)
        .setExpirationTime("1h")
        .sign(new TextEncoder().encode(secret)),
    ),
  );
}

/** A token that says all the right things, signed with somebody else's key. */
export async function forgeByStranger(provider: TestProvider): Promise<string> {
  return provider.sign({}, { key: (await generateKeyPair("RS256")).privateKey });
}
