import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { decodeJwt } from "jose";
import * as client from "openid-client";

import { cleanUp } from "../realms/clean-up.ts";
import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const TOKEN = "/realms/master/protocol/openid-connect/token";
const REDIRECT = "http://127.0.0.1/callback";

/** What a window of the browser gets for a code of its own; only the first is asked for the password. */
async function openWindow(browser: Browser, nonce = "n"): Promise<Record<string, string>> {
  const verifier = client.randomPKCECodeVerifier();
  const query = new URLSearchParams({
    client_id: "portal",
    response_type: "code",
    scope: "openid",
    redirect_uri: REDIRECT,
    nonce,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  });
  let page = await browser.open(`${identity.issuer}/protocol/openid-connect/auth?${query.toString()}`);
  if (page.status === 200) {
    const { action, fields } = readPageForm(page);
    page = await browser.open(action, { form: { ...fields, username: "eric", password: PASSWORD } });
  }
  const response = await identity.send(TOKEN, {
    form: {
      grant_type: "authorization_code",
      client_id: "portal",
      code: new URL(page.url).searchParams.get("code") ?? "",
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    },
  });
  assert.equal(response.status, 200, response.text);
  return response.body as Record<string, string>;
}

const refresh = (token = "") =>
  identity.send(TOKEN, { form: { grant_type: "refresh_token", client_id: "portal", refresh_token: token } });

test("two windows of a browser refresh beside each other; a copied token of one ends that one", async () => {
  const browser = new Browser();
  const first = await openWindow(browser);
  const second = await openWindow(browser);
  assert.equal(first["session_state"], second["session_state"]);
  const firstAgain = await refresh(first["refresh_token"]);
  const secondAgain = await refresh(second["refresh_token"]);
  assert.deepEqual([firstAgain.status, secondAgain.status], [200, 200]);
  const third = await refresh(firstAgain.body.refresh_token);
  assert.equal(third.status, 200);

  assert.equal((await refresh(first["refresh_token"])).status, 400);
  assert.equal((await refresh(third.body.refresh_token)).status, 400);
  assert.equal((await refresh(secondAgain.body.refresh_token)).status, 200);
});

test("a window displaced by many others is refused without ending the session", async () => {
  const browser = new Browser();
  const first = await openWindow(browser);
  let newest = first;
  for (let count = 0; count < 20; count += 1) {
    newest = await openWindow(browser);
  }
  const refused = await refresh(first["refresh_token"]);
  assert.equal(refused.body.error, "invalid_grant");
  assert.equal((await refresh(newest["refresh_token"])).status, 200);
});

test("the nonce is in every token, of the first answer and of refreshes, as browser adapters compare it", async () => {
  const tokens = await openWindow(new Browser(), "seen-before");
  const refreshed = await refresh(tokens["refresh_token"]);
  for (const response of [tokens, refreshed.body as Record<string, string>]) {
    for (const name of ["access_token", "id_token", "refresh_token"]) {
      assert.equal(decodeJwt(response[name] ?? "")["nonce"], "seen-before", name);
    }
  }
});

test("a page of another host may read the answer though it sent credentials (Fetch, CORS protocol)", async () => {
  const response = await identity.send(TOKEN, {
    headers: { origin: "http://portal.platform.test" },
    form: { grant_type: "refresh_token", client_id: "portal", refresh_token: "x" },
  });
  assert.equal(response.headers.get("access-control-allow-origin"), "http://portal.platform.test");
  assert.equal(response.headers.get("access-control-allow-credentials"), "true");
  assert.equal(response.headers.get("set-cookie"), null);
});

test("the profile is given to a bearer token, never to the cookie of the page", async () => {
  const browser = new Browser();
  const tokens = await openWindow(browser);
  const origin = "http://portal.platform.test";
  const preflight = await identity.send("/realms/master/account", { method: "OPTIONS", headers: { origin } });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Authorization/);
  const headers = { accept: "application/json", origin };
  const profile = await identity.send("/realms/master/account", { bearer: tokens["access_token"] ?? "", headers });
  assert.equal(profile.body.username, "eric");
  assert.equal(profile.headers.get("access-control-allow-origin"), origin);
  const byCookie = await browser.open(`${identity.issuer}/account`, { headers });
  assert.equal(byCookie.status, 401);
  assert.doesNotMatch(byCookie.text, /eric/);
  const page = await browser.open(`${identity.issuer}/account`, { headers: { origin } });
  assert.match(page.text, /Logged in as/);
  assert.equal(page.headers.get("access-control-allow-origin"), null);
});

test("a secret in HTTP Basic is understood encoded and as it is (RFC 6749 §2.3.1)", async () => {
  const raw = Buffer.from(`raw:plus+and%41`).toString("base64");
  await identity.setUpAgain([{ clientId: "raw", name: "Raw", secret: "plus+and%41" }]);
  const plain = await identity.send(TOKEN, {
    form: { grant_type: "client_credentials" },
    headers: { authorization: `Basic ${raw}` },
  });
  assert.equal(plain.status, 200, plain.text);
  const encoded = await identity.send(TOKEN, {
    form: { grant_type: "client_credentials" },
    basic: ["raw", "plus+and%41"],
  });
  assert.equal(encoded.status, 200, encoded.text);
  const wrong = await identity.send(TOKEN, { form: { grant_type: "client_credentials" }, basic: ["raw", SECRET] });
  assert.equal(wrong.body.error, "invalid_client");
});

test("a realm that has lost its key to sign with gets another", async () => {
  const { pool } = identity.context;
  await pool.query("update signing_key set status = 'passive', retire_at = now() + interval '1 hour'");
  await cleanUp(identity.context);
  const { rows } = await pool.query<{ alg: string }>(
    "select alg from signing_key where status = 'active' order by alg",
  );
  assert.deepEqual(
    rows.map(({ alg }) => alg),
    ["ES256", "RS256"],
  );
});
