import assert from "node:assert/strict";
import { test } from "node:test";

import { createIssuerCheck } from "./issuer-check.ts";
import { openIssuer } from "./issuer.ts";
import { IssuerUnavailableError } from "./token-error.ts";

test("waits for an identity service whose socket is not there yet, without naming the socket", async () => {
  const url = "http://identity.example.org/realms/master";
  const issuer = openIssuer({ issuer: url, peerUrl: "http+unix://%2Fnowhere%2Fhttp.sock" });
  try {
    await assert.rejects(createIssuerCheck(issuer)(), { message: `waiting for the identity service, ${url}` });
  } finally {
    await issuer.close();
  }
});

test("says why logins do not work when the identity service answers something else", async () => {
  const metadata = () => Promise.reject(new IssuerUnavailableError("it answered 500"));
  await assert.rejects(createIssuerCheck({ url: "http://identity", metadata })(), {
    message: "logins do not work yet: it answered 500",
  });
});

test("names the variable where the operator's own identity service cannot be discovered", async () => {
  const issuer = openIssuer({ issuer: "http://127.0.0.1:1/realms/eo" });
  try {
    await assert.rejects(createIssuerCheck(issuer)(), {
      message:
        /^logins do not work yet: http:\/\/127\.0\.0\.1:1\/realms\/eo.* cannot be reached: .*; check IDENTITY_ISSUER_URL$/,
    });
  } finally {
    await issuer.close();
  }
});
