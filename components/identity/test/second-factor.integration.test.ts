import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { TOTP } from "otpauth";

import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

const CALLBACK = "http://127.0.0.1/callback";

let identity: TestIdentity;
let bearer: string;
before(async () => {
  identity = await startIdentity();
  ({ access_token: bearer } = await identity.logIn("admin"));
});
after(() => identity.close());

const open = (browser: Browser): Promise<Page> =>
  browser.open(
    `${identity.issuer}/protocol/openid-connect/auth?${new URLSearchParams({
      client_id: "portal",
      response_type: "code",
      scope: "openid",
      redirect_uri: CALLBACK,
      code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
      code_challenge_method: "S256",
    }).toString()}`,
  );
const send = (browser: Browser, page: Page, fields: Record<string, string>): Promise<Page> => {
  const form = readPageForm(page);
  return browser.open(form.action, { form: { ...form.fields, ...fields } });
};
const logIn = async (browser: Browser, username: string): Promise<Page> =>
  send(browser, await open(browser), { username, password: PASSWORD });
const isBack = (page: Page) => page.url.startsWith(`${CALLBACK}?code=`);

async function createUser(username: string, more: object = {}): Promise<string> {
  const { status, headers } = await identity.send("/admin/realms/master/users", {
    bearer,
    json: { username, enabled: true, credentials: [{ type: "password", value: PASSWORD }], ...more },
  });
  assert.equal(status, 201);
  return headers.get("location")?.split("/").at(-1) ?? "";
}

const secretOf = (page: Page) => (/<code>([A-Z2-7 ]{39})<\/code>/.exec(page.text)?.[1] ?? "").replaceAll(" ", "");
/**
 * The code some steps from now: each is good once, and the neighbours of the present one are right, too. A step may begin before a code
 * arrives, so the one before the present is never sent: it would be too old.
 */
const codeOf = (secret: string, steps = 0) =>
  new TOTP({ secret, algorithm: "SHA1", digits: 6, period: 30 }).generate({ timestamp: Date.now() + steps * 30_000 });
const recoveryCodesOf = (page: Page) =>
  [...page.text.matchAll(/<code>(\w{4}-\w{4}-\w{4})<\/code>/g)].map(([, c]) => c ?? "");

/** Sets up one-time codes at a login that demands them. */
async function setUp(username: string, more: object = { requiredActions: ["CONFIGURE_TOTP"] }) {
  const id = await createUser(username, more);
  const browser = new Browser();
  const response = await logIn(browser, username);
  assert.match(response.text, /<h1>Set up one-time codes<\/h1>/);
  const secret = secretOf(response);
  const wrong = await send(browser, response, { device: "phone", setup_code: "000000" });
  assert.equal(wrong.status, 400);
  assert.equal(secretOf(wrong), secret, "the same secret, or scanning it was for nothing");
  const used = codeOf(secret);
  const shown = await send(browser, response, { device: "phone", setup_code: used });
  const codes = recoveryCodesOf(shown);
  assert.equal(codes.length, 10, shown.text.slice(0, 500));
  assert.ok(isBack(await send(browser, shown, {})));
  return { id, secret, codes, used };
}

test("a login goes on only with a code, each good once, or with a recovery code", async () => {
  const { secret, codes, used } = await setUp("olga");
  const browser = new Browser();
  const response = await logIn(browser, "olga");
  assert.match(response.text, /<h1>One-time code<\/h1>/);
  const account = new Browser();
  account.adopt(browser.cookies);
  assert.match((await account.open(`${identity.issuer}/account`)).text, /<h1>Log in to/, "not logged in yet");
  for (const code of ["000000", "", "x".repeat(200), used, codeOf(secret, 40)]) {
    const refused = await send(browser, response, { code });
    assert.equal(refused.status, 400, code);
    assert.match(refused.text, /not right, or was used before/);
  }
  const code = codeOf(secret, 1);
  assert.ok(isBack(await send(browser, response, { code })));

  const second = new Browser();
  const again = await logIn(second, "olga");
  assert.equal((await send(second, again, { code })).status, 400, "used before");
  assert.ok(isBack(await send(second, again, { code: (codes[0] ?? "").toUpperCase() })));
  const third = new Browser();
  assert.equal((await send(third, await logIn(third, "olga"), { code: codes[0] ?? "" })).status, 400, "used before");
});

test("nothing but the code leads on from the page that asks for it", async () => {
  await setUp("oscar");
  const browser = new Browser();
  const response = await logIn(browser, "oscar");
  for (const fields of [{ new_password: "another one", new_password_again: "another one" }, { setup_code: "1" }, {}]) {
    const page = await send(browser, response, fields);
    assert.ok(!isBack(page), JSON.stringify(fields));
    assert.match(page.text, /<h1>One-time code<\/h1>/);
  }
});

test("a million codes cannot be tried", async () => {
  const { secret } = await setUp("otto");
  const browser = new Browser();
  const response = await logIn(browser, "otto");
  let tries = 0;
  let page = response;
  while (!/too many failed logins/.test(page.text) && tries < 30) {
    page = await send(browser, response, { code: "000000" });
    tries += 1;
  }
  assert.ok(tries <= 11, `${tries} tries`);
  assert.match((await send(browser, response, { code: codeOf(secret) })).text, /too many failed logins/);
});

test("programs send the code in the field totp", async () => {
  const { secret } = await setUp("odile");
  const send = (more: Record<string, string>) =>
    identity.send("/realms/master/protocol/openid-connect/token", {
      form: { grant_type: "password", client_id: "admin-cli", username: "odile", password: PASSWORD, ...more },
    });
  const without = await send({});
  assert.equal(without.status, 401);
  assert.match(JSON.stringify(without.body), /one-time code is needed/);
  assert.equal((await send({ totp: "000000" })).status, 401);
  assert.equal((await send({ totp: codeOf(secret, 1) })).status, 200);
});

test("roles may demand it", async () => {
  const { body } = await identity.send("/admin/realms/master", { bearer });
  const setting = (secondFactorRoles: string) =>
    identity.send("/admin/realms/master", { method: "PUT", bearer, json: { ...(body as object), secondFactorRoles } });
  await identity.send("/admin/realms/master/roles", { bearer, json: { name: "careful" } });
  const { body: role } = await identity.send("/admin/realms/master/roles/careful", { bearer });
  const id = await createUser("orla");
  await identity.send(`/admin/realms/master/users/${id}/role-mappings/realm`, { bearer, json: [role] });
  assert.ok(isBack(await logIn(new Browser(), "orla")));
  assert.equal((await setting("operator-of-nothing, careful")).status, 204);
  assert.match((await logIn(new Browser(), "orla")).text, /<h1>Set up one-time codes<\/h1>/);
  assert.ok(isBack(await logIn(new Browser(), "eric")), "nobody else");
  assert.equal((await setting("")).status, 204);
});

test("people set it up and remove it on their page, with the password", async () => {
  await createUser("oona");
  const browser = new Browser();
  assert.ok(isBack(await logIn(browser, "oona")));
  const account = await browser.open(`${identity.issuer}/account`);
  const act = (fields: Record<string, string>, page = account) =>
    browser.open(`${identity.issuer}/account`, {
      form: { form_token: readPageForm(page).fields["form_token"] ?? "", ...fields },
    });
  assert.match((await act({ action: "otp-start", password: "wrong" })).text, /current password is not right/);
  const page = await act({ action: "otp-start", password: PASSWORD });
  const secret = secretOf(page);
  assert.match(
    (await act({ action: "otp-save", secret: "A".repeat(32), otp_token: "x", setup_code: codeOf("A".repeat(32)) }))
      .text,
    /has expired/,
    "a secret of somebody else's choice",
  );
  const shown = await send(browser, page, { device: "<b>key</b>", setup_code: codeOf(secret) });
  assert.equal(recoveryCodesOf(shown).length, 10);
  const done = await browser.open(`${identity.issuer}/account`);
  assert.match(done.text, /&lt;b&gt;key&lt;\/b&gt;/);
  const device = /name="device" value="([^"]+)"/.exec(done.text)?.[1] ?? "";
  const renewed = await act({ action: "recovery-codes", password: PASSWORD });
  assert.equal(new Set([...recoveryCodesOf(shown), ...recoveryCodesOf(renewed)]).size, 20);
  assert.match((await act({ action: "otp-remove", device, password: "wrong" })).text, /current password is not right/);
  assert.match((await act({ action: "otp-remove", device, password: PASSWORD })).text, /device is removed/);
  assert.ok(isBack(await logIn(new Browser(), "oona")));
});

test("administrators see devices, and remove them for who has lost one", async () => {
  const { id, secret } = await setUp("odin");
  const credentials = await identity.send(`/admin/realms/master/users/${id}/credentials`, { bearer });
  assert.ok(!JSON.stringify(credentials.body).includes(secret));
  const device = (credentials.body as unknown as { id: string; type: string; userLabel: string }[]).find(
    ({ type }) => type === "otp",
  );
  assert.equal(device?.userLabel, "phone");
  const { body: user } = await identity.send(`/admin/realms/master/users/${id}`, { bearer });
  assert.equal((user as { totp?: boolean }).totp, true);
  assert.deepEqual((user as { requiredActions?: string[] }).requiredActions, []);
  const remove = (credential: string) =>
    identity.send(`/admin/realms/master/users/${id}/credentials/${credential}`, { method: "DELETE", bearer });
  assert.equal((await remove("nope")).status, 404);
  assert.equal((await remove(device?.id ?? "")).status, 204);
  assert.ok(isBack(await logIn(new Browser(), "odin")));
});
