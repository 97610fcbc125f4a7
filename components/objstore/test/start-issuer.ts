import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { SignJWT, exportJWK, generateKeyPair } from "jose";

/** An identity service as far as verifying tokens needs one, on a free port of the loopback interface. */
export async function startIssuer(): Promise<{
  readonly url: string;
  /** An access token of a user, for the audience of the platform unless `claims` say otherwise. */
  readonly sign: (user: string, claims?: Readonly<Record<string, unknown>>, from?: string) => Promise<string>;
  readonly stop: () => void;
}> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };
  const server = createServer((request, response) => {
    const discovery = { issuer: url, jwks_uri: `${url}/keys` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url?.endsWith("/keys") ? { keys: [jwk] } : discovery));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/master`;
  return {
    url,
    sign: (user, claims = {}, from = url) =>
      new SignJWT({ preferred_username: user, aud: "swath-platform", typ: "Bearer", ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "k", typ: "JWT" })
        .setIssuer(from)
        .setSubject(`id-of-${user}`)
        .setExpirationTime("5m")
        .sign(privateKey),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
