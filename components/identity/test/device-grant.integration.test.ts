import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import * as client from "openid-client";

import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
before(async () => {
  identity = await startIdentity();
});
after(() => identity.close());

const endpoint = (name: string) => `/realms/master/protocol/openid-connect/${name}`;
interface Begun {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
}
async function begin(fields: Record<string, string> = {}): Promise<Begun> {
  const { status, body } = await identity.send(endpoint("auth/device"), {
    form: { client_id: "swath-cli", scope: "openid", ...fields },
  });
  assert.equal(status, 200, JSON.stringify(body));
  return body as unknown as Begun;
}
const poll = async (code: string, clientId = "swath-cli") => {
  const { status, body } = await identity.send(endpoint("token"), {
    form: {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id: clientId,
      device_code: code,
    },
  });
  return { status, ...(body as { error?: string; access_token?: string }) };
};
const send = (browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> => {
  const form = readPageForm(page);
  return browser.open(form.action, { form: { ...form.fields, ...fields } });
};
async function logIn(browser: Browser, address: string, username = "eric"): Promise<Page> {
  return send(browser, await browser.open(address), { username, password: PASSWORD });
}

test("the known client library logs a program in while a person allows it in a browser", async () => {
  const config = await client.discovery(new URL(identity.issuer), "swath-cli", undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  });
  const started = await client.initiateDeviceAuthorization(config, { scope: "openid" });
  const tokens = client.pollDeviceAuthorizationGrant(config, { ...started, interval: 1 });
  const browser = new Browser();
  const response = await logIn(browser, started.verification_uri_complete ?? "");
  assert.match(response.text, /<h1>Log Swath on a command line in\?<\/h1>/);
  assert.ok(response.text.includes(started.user_code));
  assert.match((await send(browser, response, { decision: "allow" })).text, /The program is logged in/);
  const reply = await tokens;
  assert.equal(
    (await identity.send(endpoint("userinfo"), { bearer: reply.access_token })).body["preferred_username"],
    "eric",
  );
  assert.ok(reply.refresh_token !== undefined);
});

test("a code typed by hand may be refused, and is good once", async () => {
  const { device_code: device, user_code: code, verification_uri: address } = await begin();
  const browser = new Browser();
  const response = await logIn(browser, address);
  assert.match(response.text, /The code that the program shows/);
  const wrong = await send(browser, response, { user_code: "BCDF-GHJK" });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /unknown or has expired/);
  const shown = await send(browser, response, { user_code: ` ${code.toLowerCase().replace("-", " ")} ` });
  assert.match((await send(browser, shown, { decision: "refuse" })).text, /<h1>Refused<\/h1>/);
  assert.equal((await send(browser, shown, { decision: "allow" })).status, 400, "decided already");
  assert.equal((await poll(device)).error, "access_denied");
  assert.equal((await poll(device)).error, "invalid_grant", "told once");
});

test("polling: pending, too early, another client's, allowed once", async () => {
  const { device_code: device, verification_uri_complete: address } = await begin();
  assert.equal((await poll(device)).error, "authorization_pending");
  assert.equal((await poll(device)).error, "slow_down");
  assert.equal((await poll("x".repeat(43))).error, "invalid_grant");
  assert.equal((await poll(device, "portal")).error, "unauthorized_client");
  const browser = new Browser();
  await send(browser, await logIn(browser, address), { decision: "allow" });
  const responses = await Promise.all([poll(device), poll(device), poll(device)]);
  assert.equal(responses.filter(({ status }) => status === 200).length, 1);
  assert.equal((await poll(device)).error, "invalid_grant");
});

test("clients without the attribute, hostile and repeated parameters are refused", async () => {
  const refused = await identity.send(endpoint("auth/device"), { form: { client_id: "portal" } });
  assert.equal(refused.status, 400);
  assert.equal((refused.body as { error?: string }).error, "unauthorized_client");
  assert.equal((await identity.send(endpoint("auth/device"), { form: { client_id: "nobody" } })).status, 401);
  assert.equal((await poll("\u0000")).status, 400);
});

test("nobody decides for somebody else: the page's form is needed, and codes cannot be guessed", async () => {
  const { device_code: device, user_code: code, verification_uri: address } = await begin();
  const browser = new Browser();
  const response = await logIn(browser, address, "bob");
  const action = readPageForm(response).action;
  const forged = await browser.open(action, { form: { form_token: "x", user_code: code, decision: "allow" } });
  assert.equal(forged.status, 403);
  let page = response;
  for (let tries = 0; tries < 15 && !/too many wrong codes/.test(page.text); tries += 1) {
    page = await send(browser, response, { user_code: "ZZZZ-ZZZZ", ...(tries % 2 === 1 && { decision: "allow" }) });
  }
  assert.match(page.text, /too many wrong codes/);
  assert.match((await send(browser, response, { user_code: code })).text, /too many wrong codes/);
  assert.equal((await poll(device)).error, "authorization_pending");
});
