import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

const CALLBACK = "http://127.0.0.1/callback";
const OWN = "a password of my own";

let identity: TestIdentity;
let bearer: string;
before(async () => {
  identity = await startIdentity();
  ({ access_token: bearer } = await identity.logIn("admin"));
  const { status } = await identity.send("/admin/realms/master/clients", {
    bearer,
    json: {
      clientId: "stranger",
      name: "A <b>stranger</b>",
      publicClient: true,
      consentRequired: true,
      redirectUris: [CALLBACK],
    },
  });
  assert.equal(status, 201);
});
after(() => identity.close());

const open = (browser: Browser, more: Record<string, string> = {}): Promise<Page> =>
  browser.open(
    `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
      client_id: "portal",
      response_type: "code",
      scope: "openid profile",
      state: "s1",
      redirect_uri: CALLBACK,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
      ...more,
    }).toString()}`,
  );
const send = (browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> => {
  const form = readPageForm(page);
  return browser.open(form.action, { form: { ...form.fields, ...fields } });
};
const logIn = (browser: Browser, page: Page, username: string, password = PASSWORD): Promise<Page> =>
  send(browser, page, { username, password });

/** What came back to the client. */
function readResponse(page: Page): URLSearchParams {
  assert.equal(page.url.split("?", 1)[0], CALLBACK, page.text.slice(0, 500));
  return new URL(page.url).searchParams;
}

async function createUser(username: string): Promise<string> {
  const { status, headers } = await identity.send("/admin/realms/master/users", {
    bearer,
    json: { username, enabled: true, credentials: [{ type: "password", value: "temporary one", temporary: true }] },
  });
  assert.equal(status, 201);
  return headers.get("location")?.split("/").at(-1) ?? "";
}

test("a temporary password is good for choosing another one, and for nothing else", async () => {
  await createUser("carol");
  const browser = new Browser();
  const response = await logIn(browser, await open(browser), "carol", "temporary one");
  assert.match(response.text, /<h1>Choose a password<\/h1>/);
  const meanwhile = new Browser();
  meanwhile.adopt(browser.cookies);
  assert.match((await meanwhile.open(`${identity.issuer}/account`)).text, /<h1>Log in to/, "not logged in yet");

  for (const [chosen, again, message] of [
    [OWN, "another", /not the same/],
    ["short", "short", /at least 8 characters/],
    ["temporary one", "temporary one", /must not be the one/],
  ] as const) {
    const refused = await send(browser, response, { new_password: chosen, new_password_again: again });
    assert.equal(refused.status, 400, chosen);
    assert.match(refused.text, message);
  }
  const done = await send(browser, response, { new_password: OWN, new_password_again: OWN });
  assert.ok(readResponse(done).get("code"));

  const later = new Browser();
  assert.match((await logIn(later, await open(later), "carol", "temporary one")).text, /do not fit together/);
  assert.ok(readResponse(await logIn(later, await open(later), "carol", OWN)).get("code"));
  assert.ok(!identity.logged.join("\n").includes(OWN), "no password in the log");
});

test("nobody chooses a password who has not shown the old one", async () => {
  await createUser("dave");
  const browser = new Browser();
  const page = await open(browser);
  const forged = await send(browser, page, { username: "dave", new_password: OWN, new_password_again: OWN });
  assert.equal(forged.status, 400);
  assert.match(forged.text, /do not fit together/);
});

test("who was disabled between the two steps does not get in", async () => {
  const id = await createUser("erin");
  const browser = new Browser();
  const response = await logIn(browser, await open(browser), "erin", "temporary one");
  assert.equal(
    (await identity.send(`/admin/realms/master/users/${id}`, { method: "PUT", bearer, json: { enabled: false } }))
      .status,
    204,
  );
  const refused = await send(browser, response, { new_password: OWN, new_password_again: OWN });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /disabled/);
});

test("a password that was reset between the two steps is not chosen by who knew the one before", async () => {
  const id = await createUser("frank");
  const browser = new Browser();
  const response = await logIn(browser, await open(browser), "frank", "temporary one");
  const reset = { type: "password", value: "temporary two", temporary: true };
  const path = `/admin/realms/master/users/${id}/reset-password`;
  assert.equal((await identity.send(path, { method: "PUT", bearer, json: reset })).status, 204);
  const refused = await send(browser, response, { new_password: OWN, new_password_again: OWN });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /do not fit together/);
});

test("a client that needs consent asks once, by its escaped name, and takes no for an answer", async () => {
  const browser = new Browser();
  const client_id = "stranger";
  const response = await logIn(browser, await open(browser, { client_id }), "eric");
  assert.match(response.text, /<h1>A &lt;b&gt;stranger&lt;\/b&gt; asks for access<\/h1>/);
  assert.match(response.text, /See your name and user name/);
  const { action } = readPageForm(response);
  assert.equal((await browser.open(action, { form: { consent: "yes" } })).status, 403, "a form of another site");
  const refused = readResponse(await send(browser, response, { consent: "no" }));
  assert.deepEqual([refused.get("error"), refused.get("state"), refused.get("code")], ["access_denied", "s1", null]);

  const again = await open(browser, { client_id });
  assert.match(again.text, /asks for access/);
  assert.ok(readResponse(await send(browser, again, { consent: "yes" })).get("code"));
  assert.ok(readResponse(await open(browser, { client_id })).get("code"), "agreed already");
  // More than was agreed to is asked for.
  const more = await open(browser, { client_id, scope: "openid profile email" });
  assert.match(more.text, /See your e-mail address/);
  assert.doesNotMatch(more.text, /See your name and user name/);
});

test("a login that was demanded is not demanded again after the consent", async () => {
  const browser = new Browser();
  const response = await logIn(browser, await open(browser, { client_id: "stranger", prompt: "login" }), "bob");
  assert.match(response.text, /asks for access/);
  assert.ok(readResponse(await send(browser, response, { consent: "yes" })).get("code"));
});

test("somebody else may log in where somebody is logged in, whose session then ends", async () => {
  const browser = new Browser();
  readResponse(await logIn(browser, await open(browser), "eric"));
  const before = new Map(browser.cookies);
  const other = await logIn(browser, await open(browser, { prompt: "login" }), "bob");
  assert.ok(readResponse(other).get("code"));
  assert.match((await browser.open(`${identity.issuer}/account`)).text, /Logged in as <strong>bob<\/strong>/);
  const stale = new Browser();
  stale.adopt(before);
  assert.doesNotMatch((await stale.open(`${identity.issuer}/account`)).text, /Logged in as/);
});

test("no page may be framed, kept, or run a script", async () => {
  const browser = new Browser();
  const pages = [
    await open(browser),
    await open(new Browser(), { redirect_uri: "https://evil.example/" }),
    await new Browser().open(`${identity.issuer}/login-actions/authenticate/unknown`),
    await new Browser().open(`${identity.issuer}/protocol/openid-connect/logout`),
    await logIn(browser, await open(browser), "eric").then(() => browser.open(`${identity.issuer}/account`)),
  ];
  for (const { url, headers, text } of pages) {
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/, url);
    assert.equal(headers.get("cache-control"), "no-store", url);
    assert.equal(headers.get("referrer-policy"), "no-referrer", url);
    assert.doesNotMatch(text, /<script|<style| on[a-z]+=|javascript:/i, url);
  }
});
