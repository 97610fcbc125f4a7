import assert from "node:assert/strict";
import { test } from "node:test";

import { createTrustedProxies, isProxyAddress } from "./trusted-proxies.ts";

const proxies = createTrustedProxies(["192.0.2.0/24", "2001:db8::1"]);
const origin = (peer: string, forwardedFor: string, forwardedProto = "") =>
  proxies.originOf({ address: peer, tls: false }, { forwardedFor, forwardedProto });

test("the client is the last one that no trusted proxy is", () => {
  assert.equal(origin("192.0.2.1", "203.0.113.5").address, "203.0.113.5");
  assert.equal(
    origin("192.0.2.1", "6.6.6.6, 203.0.113.5").address,
    "203.0.113.5",
    "what the client claims comes before",
  );
  assert.equal(origin("192.0.2.1", "203.0.113.5, 192.0.2.9").address, "203.0.113.5", "two proxies");
  assert.equal(origin("2001:db8::1", "[2001:db8:5::7]:4711").address, "2001:db8:5::7");
  assert.equal(origin("192.0.2.1", "203.0.113.5:1234").address, "203.0.113.5");
});

test("nobody else is believed, and nothing that is no address", () => {
  assert.deepEqual(origin("203.0.113.1", "1.1.1.1", "https"), { address: "203.0.113.1", tls: false });
  assert.equal(origin("192.0.2.1", "").address, "192.0.2.1");
  assert.equal(origin("192.0.2.1", "203.0.113.5, unknown").address, "192.0.2.1");
  const none = createTrustedProxies([]).originOf(
    { address: "192.0.2.1", tls: false },
    { forwardedFor: "1.1.1.1", forwardedProto: "https" },
  );
  assert.deepEqual(none, { address: "192.0.2.1", tls: false });
});

test("a proxy that ends TLS says so", () => {
  assert.equal(origin("192.0.2.1", "203.0.113.5", "https").tls, true);
  assert.equal(origin("192.0.2.1", "203.0.113.5", "https, http").tls, false);
});

test("addresses and networks are told from other texts", () => {
  for (const text of ["192.0.2.1", "10.0.0.0/8", "fd00::/8", "::1"]) {
    assert.equal(isProxyAddress(text), true, text);
  }
  for (const text of ["", "example.org", "10.0.0.0/33", "10.0.0.0/8/1", "10.0.0.0/"]) {
    assert.equal(isProxyAddress(text), false, text);
  }
});
