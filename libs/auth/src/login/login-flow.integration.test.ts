import assert from "node:assert/strict";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, beforeEach, test } from "node:test";

import { parseCookies } from "../cookies.ts";
import { LoginFailure } from "./login-failure.ts";
import { type LoginFlow, createLoginFlow } from "./login-flow.ts";
import { type OidcClient, createOidcClient } from "./oidc-client.ts";

/** What the provider does with requests: it answers (and refuses every code), is away behind an ingress, or breaks off. */
let does: "answer" | "away" | "break";
const provider = createServer((request, response) => reply(request, response));
let issuer: string;
let client: OidcClient;
let flow: LoginFlow;

function reply(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  if (does === "away") {
    response.writeHead(503, { "content-type": "text/html" }).end("<h1>Away</h1>");
  } else if (does === "break") {
    request.socket.destroy();
  } else if (request.url?.endsWith("/.well-known/openid-configuration") === true) {
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` }),
    );
  } else {
    response.writeHead(400, { "content-type": "application/json" }).end('{"error":"invalid_grant"}');
  }
}

before(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/realms/master`;
});
beforeEach(async () => {
  await client?.close();
  does = "answer";
  client = createOidcClient({ issuer, clientId: "portal" });
  flow = createLoginFlow({
    client,
    publicUrl: "http://portal.example.org",
    callbackPath: "/auth/callback",
    cookiePrefix: "login_",
    readReturnPath: (path) => path ?? "/",
  });
});
after(async () => {
  await client.close();
  provider.close();
});

const fails = (attempt: Promise<unknown>, kind: LoginFailure["kind"]) =>
  assert.rejects(attempt, (error) => {
    assert.ok(error instanceof LoginFailure, String(error));
    assert.equal(error.kind, kind, error.message);
    return true;
  });

/** A login that comes back from the provider with a code. */
async function comeBack(query = "code=abc"): Promise<Parameters<LoginFlow["finish"]>> {
  const { location, setCookies } = await flow.start([], "/jobs");
  const cookie = setCookies.map((text) => text.split(";", 1)[0]).join("; ");
  return [parseCookies(cookie), `?${query}&state=${new URL(location).searchParams.get("state")}`];
}

for (const state of ["away", "break"] as const) {
  test(`a provider that does ${state} is unavailable, at the start and at the end of a login`, async () => {
    does = state;
    await fails(flow.start([], "/"), "unavailable");
    does = "answer";
    const [cookies, query] = await comeBack();
    does = state;
    await fails(flow.finish(cookies, query), "unavailable");
  });
}

test("a provider that is not there at all is unavailable", async () => {
  const nobody = createServer();
  await new Promise<void>((resolve) => nobody.listen(0, "127.0.0.1", resolve));
  const { port } = nobody.address() as AddressInfo;
  await new Promise((resolve) => nobody.close(resolve));
  const away = createOidcClient({ issuer: `http://127.0.0.1:${port}/realms/master`, clientId: "portal" });
  const options = {
    publicUrl: "http://p.example.org",
    callbackPath: "/cb",
    cookiePrefix: "l_",
    readReturnPath: String,
  };
  await fails(createLoginFlow({ client: away, ...options }).start([], "/"), "unavailable");
  await away.close();
});

test("a code that is no longer good, a cancelled login and one that nobody began are told apart", async () => {
  await fails(flow.finish(...(await comeBack())), "expired");
  await fails(flow.finish(...(await comeBack("error=access_denied"))), "cancelled");
  await fails(flow.finish(...(await comeBack("error=server_error"))), "refused");
  const [, query] = await comeBack();
  await fails(flow.finish([], query), "expired");
});
