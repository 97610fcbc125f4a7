import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";

import { toClientHeaders, toServerHeaders } from "./headers.ts";

const rules = { hiddenCookies: new Set(["swath_server", "auth_user_id", "auth_refresh_token"]) };
const requestOf = (...rawHeaders: string[]) => ({ rawHeaders }) as unknown as IncomingMessage;
const asServer = (...rawHeaders: string[]) =>
  toServerHeaders(requestOf(...rawHeaders), rules, { user: "eric", authorization: "as sent" });

test("servers see neither the platform's cookies nor the hub's, and nobody says for us who somebody is", () => {
  const headers = asServer(
    "Host",
    "eric.hub.example.org",
    "Cookie",
    "auth_user_id=T; own=1; swath_server=S; auth_refresh_token=R; swath_hub=H; __Host-swath_hub=H2; other=2",
    "X-Auth-Userid",
    "root",
    "x_swath_user",
    "root",
    "Connection",
    "keep-alive, X-Secret",
    "X-Secret",
    "1",
    "X-Forwarded-For",
    "192.0.2.1",
  );
  assert.deepEqual(headers, [
    "Host",
    "eric.hub.example.org",
    "Cookie",
    "own=1; other=2",
    "X-Forwarded-For",
    "192.0.2.1",
    "X-Swath-User",
    "eric",
  ]);
  assert.ok(!asServer("Cookie", "auth_user_id=T").includes("Cookie"));
  assert.deepEqual(asServer("Authorization", "Bearer eyJ.eyJ.sig"), ["X-Swath-User", "eric"]);
  assert.ok(asServer("Authorization", "token of-the-application").includes("token of-the-application"));
});

test("what let a request in does not reach the server, whatever its scheme", () => {
  for (const value of ["token T", "Bearer T", "bearer  T", "Basic ZXJpYzpU", "Bearer eyJ.eyJ.sig"]) {
    const request = requestOf("authorization", value, "AUTHORIZATION", value);
    assert.deepEqual(toServerHeaders(request, rules, { user: "eric" }), ["X-Swath-User", "eric"]);
    const headers = toServerHeaders(request, rules, { user: "eric", authorization: { token: "S" } });
    assert.deepEqual(
      [headers.slice(0, 2), headers.slice(-2)],
      [
        ["Authorization", "token S"],
        ["X-Swath-User", "eric"],
      ],
    );
  }
});

test("a request with a token changes something at Jupyter's servers without their cookie", () => {
  for (const sent of [[], ["Cookie", "own=1; _xsrf=old"], ["X-XSRFToken", "old", "Cookie", "_xsrf=other"]]) {
    const headers = toServerHeaders(requestOf(...sent), rules, { user: "eric", authorization: { token: "S" } });
    const valuesOf = (name: string) => headers.filter((_, at) => at % 2 === 1 && headers[at - 1] === name);
    const [proof = ""] = valuesOf("X-XSRFToken");
    assert.match(proof, /^[0-9a-f]{32}$/);
    assert.equal(valuesOf("X-XSRFToken").length, 1);
    assert.deepEqual(valuesOf("Cookie"), [`${sent.join(" ").includes("own") ? "own=1; " : ""}_xsrf=${proof}`]);
  }
  // A browser has the server's cookie and shows its value itself.
  assert.deepEqual(asServer("Cookie", "_xsrf=a", "X-XSRFToken", "b").slice(0, 4), [
    "Cookie",
    "_xsrf=a",
    "X-XSRFToken",
    "b",
  ]);
});

test("a server sets cookies for its own host alone", () => {
  assert.deepEqual(
    toClientHeaders(
      [
        "Set-Cookie",
        "a=1; Path=/; Domain=.example.org; HttpOnly",
        "Set-Cookie",
        "swath_server=evil",
        "X-A",
        "1",
        "set-cookie",
        "auth_user_id=x",
      ],
      rules,
    ),
    ["Set-Cookie", "a=1; Path=/; HttpOnly", "X-A", "1"],
  );
});
