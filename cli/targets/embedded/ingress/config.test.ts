import assert from "node:assert/strict";
import { test } from "node:test";

import { ConfigError, parseConfig } from "./config.ts";

const VALID = {
  listeners: [{ address: "127.0.0.1", port: 8080, tls: false }],
  sslRedirect: false,
  routes: [{ host: "a.test", service: "a", namespace: "n", upstream: { socketPath: "/s" }, ready: true }],
  tls: { certificates: [] },
};

function mistakesOf(change: object): readonly string[] {
  try {
    parseConfig(JSON.stringify({ ...VALID, ...change }));
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.mistakes;
  }
  return [];
}

test("takes a whole configuration", () => {
  assert.deepEqual(parseConfig(JSON.stringify(VALID)), VALID);
});

test("reports every mistake with its place", () => {
  assert.deepEqual(
    mistakesOf({
      listeners: [{ address: "localhost", port: 70_000, tls: "no" }],
      sslRedirect: undefined,
      routes: [{ host: "A.test", service: "", namespace: "n", upstream: {}, ready: 1, wildcard: 1 }],
      tls: {},
    }),
    [
      "listeners[0].address must be an IP address",
      "listeners[0].port must be a port number",
      "listeners[0].tls must be true or false",
      "sslRedirect must be true or false",
      "routes[0].host must be a lower-case host name",
      "routes[0].service must be a name",
      "routes[0].ready must be true or false",
      "routes[0].wildcard must be true or false",
      "routes[0].upstream must be {socketPath}, {host, port} or null",
      "tls.certificates must be a list",
    ],
  );
});

test("finds what is wrong between parts", () => {
  assert.deepEqual(
    mistakesOf({
      listeners: [{ address: "::1", port: 8443, tls: true }],
      routes: [...VALID.routes, ...VALID.routes],
    }),
    ["routes names a.test twice", "tls.certificates must hold a certificate, because a listener has tls: true"],
  );
  assert.throws(() => parseConfig("[]"), /not a JSON object/);
  assert.throws(() => parseConfig("{"), /not JSON/);
});
