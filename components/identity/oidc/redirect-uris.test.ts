import assert from "node:assert/strict";
import { test } from "node:test";

import { isRedirectAllowed } from "./redirect-uris.ts";

const rules = (...redirectUris: string[]) => ({
  rootUrl: "",
  redirectUris,
  publicUrl: "https://identity.platform.test",
  domain: "platform.test",
});

test("a wildcard is for paths of one origin", () => {
  const allowed = rules("https://app.example/app/*");
  assert.equal(isRedirectAllowed("https://app.example/app/deep?x=1", allowed), true);
  for (const uri of [
    "https://app.example/other",
    "https://app.example/app/../other",
    "https://app.example/app/%2e%2e/other",
    "https://app.example/app/..%2fother",
    "https://app.example.evil/app/x",
    "http://app.example/app/x",
    "https://app.example:8443/app/x",
    "https://user@app.example/app/x",
  ]) {
    assert.equal(isRedirectAllowed(uri, allowed), false, uri);
  }
  assert.equal(isRedirectAllowed("https://app.example.evil/", rules("https://app.example*")), false);
  assert.equal(isRedirectAllowed("https://evil.example/", rules("https://*")), false);
});

test("a star alone is this deployment and the loopback interface", () => {
  for (const [uri, expected] of [
    ["https://portal.platform.test/x", true],
    ["http://portal.platform.test/x", false],
    ["https://portal.platform.test:8443/x", false],
    ["https://platform.test.evil.example/", false],
    ["https://evilplatform.test/", false],
    ["http://localhost:8000/callback", true],
    ["http://127.0.0.1:1/", true],
    ["https://evil.example/", false],
    ["myapp://callback", false],
  ] as const) {
    assert.equal(isRedirectAllowed(uri, rules("*")), expected, uri);
  }
});

test("an address is compared as it is; a relative one is below the root URL", () => {
  assert.equal(isRedirectAllowed("myapp://callback", rules("myapp://callback")), true);
  assert.equal(isRedirectAllowed("https://a.example/cb?x=1", rules("https://a.example/cb")), false);
  assert.equal(isRedirectAllowed("https://identity.platform.test/console", rules("/*")), true);
  assert.equal(isRedirectAllowed("javascript:alert(1)", rules("javascript:alert(1)")), false);
});
