import { SignJWT, exportJWK, generateKeyPair } from "jose";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** An issuer of tokens with a discovery document and a key: all that verification needs. */
export interface TestIssuer {
  readonly url: string;
  readonly token: (username: string, claims?: Readonly<Record<string, unknown>>) => Promise<string>;
  readonly close: () => void;
}

export async function startTestIssuer(): Promise<TestIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const jwk = { ...(await exportJWK(publicKey)), kid: "one", alg: "ES256", use: "sig" };
  let url = "";
  const server: Server = createServer((request, response) => {
    const body = request.url?.endsWith("/certs") ? { keys: [jwk] } : { issuer: url, jwks_uri: `${url}/certs` };
    response.setHeader("content-type", "application/json").end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/master`;
  return {
    url,
    token: (username, claims = {}) =>
      new SignJWT({ preferred_username: username, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "one" })
        .setIssuer(url)
        .setSubject(typeof claims["sub"] === "string" ? claims["sub"] : `id-of-${username}`)
        .setIssuedAt()
        .setExpirationTime("5m")
        .sign(privateKey),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
