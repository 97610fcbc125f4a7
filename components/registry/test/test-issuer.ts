import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { SignJWT, exportJWK, generateKeyPair } from "jose";

export interface TestIssuer {
  readonly url: string;
  /** An access token of a user. */
  readonly sign: (user: string, claims?: object) => Promise<string>;
  readonly stop: () => void;
}

/** An identity service as far as verifying tokens needs one, on a free port of the loopback interface. */
export async function startTestIssuer(): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("RS256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "k", alg: "RS256" };
  const server = createServer((request, response) => {
    const discovery = { issuer: url, jwks_uri: `${url}/keys` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(request.url?.endsWith("/keys") === true ? { keys: [jwk] } : discovery));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/master`;
  return {
    url,
    sign: (user, claims = {}) =>
      new SignJWT({ sub: `id-of-${user}`, preferred_username: user, typ: "Bearer", aud: "registry", ...claims })
        .setProtectedHeader({ alg: "RS256", kid: "k", typ: "JWT" })
        .setIssuer(url)
        .setExpirationTime("5m")
        .sign(privateKey),
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
