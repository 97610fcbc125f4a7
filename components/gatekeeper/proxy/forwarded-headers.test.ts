import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { type VerifiedToken, identityOf } from "@swath/auth";
import { returnedHeaders } from "@swath/relay";

import { forwardedHeaders } from "./forwarded-headers.ts";

const host = { name: "ades.example.org", authority: "ades.example.org:8443" };
const claims = {
  iss: "https://i",
  sub: "1",
  exp: 2000,
  aud: ["account", "ades"],
  preferred_username: "eric",
  email: "eric@example.org",
  realm_access: { roles: ["user", "a,b"] },
  groups: ["/x"],
};
const verified: VerifiedToken = { token: "t.o.k", claims, identity: identityOf(claims) };

function pairs(flat: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (let index = 0; index < flat.length; index += 2) {
    const name = (flat[index] as string).toLowerCase();
    assert.ok(!(name in found), `${name} comes twice`);
    found[name] = flat[index + 1] as string;
  }
  return found;
}
const forward = (rawHeaders: readonly string[], who: VerifiedToken | "nobody" = verified) =>
  pairs(
    forwardedHeaders({
      rawHeaders,
      host,
      cookie: undefined,
      verified: who === "nobody" ? undefined : who,
      now: 1_000_000,
    }),
  );

describe("headers on their way to the service", () => {
  test("the verified identity, and the token whatever way it came", () => {
    assert.deepEqual(forward(["Accept", "*/*", "Authorization", "Bearer other"]), {
      host: "ades.example.org:8443",
      accept: "*/*",
      authorization: "Bearer t.o.k",
      "x-auth-token": "t.o.k",
      "x-auth-userid": "1",
      "x-auth-subject": "1",
      "x-auth-username": "eric",
      "x-auth-email": "eric@example.org",
      "x-auth-roles": "user,a%2Cb",
      "x-auth-groups": "/x",
      "x-auth-audience": "account,ades",
      "x-auth-expiresin": "1000",
    });
  });

  test("forged identity headers go, in every spelling, also on open paths", () => {
    const forged = ["X-Auth-Username", "x-auth-roles", "X_Auth_Userid", "x.auth.token", "X-AUTH_EMAIL", "X-Auth-New"];
    const others = [
      "X-UMA-Token",
      "X-Forwarded-User",
      "X_Forwarded_For",
      "Forwarded",
      "X-Original-URL",
      "X-Rewrite-Url",
      "Proxy",
    ];
    const raw = [...forged, ...others].flatMap((name) => [name, "admin"]);
    assert.deepEqual(forward(raw, "nobody"), { host: "ades.example.org:8443" });
    assert.equal(Object.values(forward(raw)).includes("admin"), false);
  });

  test("what the ingress says stays, with the host in its one spelling", () => {
    const raw = ["X-Forwarded-For", "192.0.2.1", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "ADES.example.org."];
    assert.deepEqual(forward(raw, "nobody"), {
      host: "ades.example.org:8443",
      "x-forwarded-for": "192.0.2.1",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "ades.example.org:8443",
    });
  });

  test("headers of the connection go, and cannot take others with them", () => {
    const raw = ["Connection", "X-Secret, Content-Length, X-Forwarded-For, X-Auth-Username", "X-Secret", "1"];
    const rest = [
      "Content-Length",
      "5",
      "X-Forwarded-For",
      "192.0.2.1",
      "TE",
      "trailers",
      "Keep-Alive",
      "1",
      "Upgrade",
      "h2c",
    ];
    const sent = forward([...raw, ...rest]);
    assert.equal(sent["content-length"], "5");
    assert.equal(sent["x-forwarded-for"], "192.0.2.1");
    assert.equal(sent["x-auth-username"], "eric");
    for (const name of ["x-secret", "connection", "te", "keep-alive", "upgrade"]) {
      assert.equal(sent[name], undefined, name);
    }
  });

  test("names that are not ASCII travel as UTF-8; line breaks cannot begin another header", () => {
    const odd = { ...claims, preferred_username: "zoë\r\nX-Auth-Roles: admin" };
    const sent = forward([], { ...verified, claims: odd, identity: identityOf(odd) });
    assert.equal(Buffer.from(sent["x-auth-username"] ?? "", "latin1").toString(), "zoë%0D%0AX-Auth-Roles: admin");
  });
});

test("an answer comes back without the headers of the service's connection", () => {
  const raw = [
    "Set-Cookie",
    "a=1",
    "Set-Cookie",
    "b=2",
    "Connection",
    "keep-alive, x-hop",
    "X-Hop",
    "1",
    "Keep-Alive",
    "5",
  ];
  assert.deepEqual(returnedHeaders(raw), ["Set-Cookie", "a=1", "Set-Cookie", "b=2"]);
});
