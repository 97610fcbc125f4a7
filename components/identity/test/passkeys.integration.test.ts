import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { launchChromium, skipWithoutChromium } from "@swath/testing/chromium";
import { type Browser as Chromium, type BrowserContext, type CDPSession, type Page } from "playwright-core";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

const skip = skipWithoutChromium;

let identity: TestIdentity;
let bearer: string;
let chrome: Chromium | undefined;
before(async () => {
  identity = await startIdentity({ host: "localhost" });
  bearer = (await identity.logIn("admin")).access_token;
  chrome = skip === false ? await launchChromium() : undefined;
});
after(async () => {
  await chrome?.close();
  await identity.close();
});

interface Device {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly session: CDPSession;
  readonly authenticator: string;
}

/** A browser whose authenticator asks nobody. */
async function openDevice(): Promise<Device> {
  const context = await (chrome as Chromium).newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return { context, page, session, authenticator: authenticatorId };
}

const account = () => `${identity.issuer}/account`;
async function logIn({ page }: Device, username: string): Promise<void> {
  await page.goto(account());
  await page.getByLabel("User name or e-mail").fill(username);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in", exact: true }).click();
}
const credentials = async (user: string) =>
  (await identity.send(`/admin/realms/master/users/${user}/credentials`, { bearer })).body as Record<string, string>[];

async function createUser(username: string, more: object = {}): Promise<string> {
  const made = await identity.send("/admin/realms/master/users", {
    bearer,
    json: { username, enabled: true, credentials: [{ type: "password", value: PASSWORD }], ...more },
  });
  assert.equal(made.status, 201, made.text);
  return made.headers.get("location")?.split("/").at(-1) ?? "";
}

/** Sets a passkey up on the account page. @returns recovery codes */
async function setUp(device: Device, label = "My key"): Promise<readonly string[]> {
  const { page } = device;
  await page.locator("#passkey-password").fill(PASSWORD);
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.getByLabel("Name of the passkey").fill(label);
  await page.getByRole("button", { name: "Set up the passkey" }).click();
  await page.getByRole("heading", { name: "Recovery codes" }).waitFor();
  const codes = await page.locator("li code").allTextContents();
  await page.getByRole("button", { name: "I have kept them" }).click();
  await page.getByText(`${label}, a passkey`).waitFor();
  return codes;
}

test(
  "a passkey is set up on the account page, logs in alone, and is the second factor of the password",
  { skip },
  async () => {
    const user = await createUser("petra");
    const device = await openDevice();
    await logIn(device, "petra");
    const codes = await setUp(device);
    assert.equal(codes.length, 10);
    assert.deepEqual(
      (await credentials(user)).map(({ type }) => type),
      ["password", "webauthn"],
    );

    await device.context.clearCookies();
    await device.page.goto(account());
    await device.page.getByRole("button", { name: "Log in with a passkey" }).click();
    await device.page.getByRole("heading", { name: "Second factor" }).waitFor();

    await device.context.clearCookies();
    await logIn(device, "petra");
    await device.page.getByRole("button", { name: "Use a passkey" }).click();
    await device.page.getByRole("heading", { name: "Second factor" }).waitFor();
    assert.match(await device.page.locator("body").innerText(), /My key, a passkey, set up .*last used/);

    // The password alone is not enough any more, a recovery code beside it is.
    const password = { grant_type: "password", client_id: "admin-cli", username: "petra", password: PASSWORD };
    const token = "/realms/master/protocol/openid-connect/token";
    assert.equal((await identity.send(token, { form: password })).status, 401);
    assert.equal((await identity.send(token, { form: { ...password, totp: codes[0] ?? "" } })).status, 200);

    await device.page.locator('[id^="remove-"]').fill(PASSWORD);
    await device.page.getByRole("button", { name: "Remove My key" }).click();
    await device.page.getByText("The passkey is removed.").waitFor();
    assert.deepEqual(
      (await credentials(user)).map(({ type }) => type),
      ["password"],
    );
    assert.equal((await identity.send(token, { form: password })).status, 200);
    await device.context.close();
  },
);

test("a role demands a second factor, and a passkey is one", { skip }, async () => {
  await identity.send("/admin/realms/master/roles", { bearer, json: { name: "careful" } });
  const role = (await identity.send("/admin/realms/master/roles/careful", { bearer })).body;
  await identity.send("/admin/realms/master", { method: "PUT", bearer, json: { secondFactorRoles: "careful" } });
  const user = await createUser("paul");
  await identity.send(`/admin/realms/master/users/${user}/role-mappings/realm`, { bearer, json: [role] });
  const device = await openDevice();
  await logIn(device, "paul");
  await device.page.getByRole("heading", { name: "Set up one-time codes" }).waitFor();
  await device.page.getByRole("button", { name: "Set up a passkey" }).click();
  await device.page.getByRole("button", { name: "I have kept them" }).click();
  await device.page.getByRole("heading", { name: "Second factor" }).waitFor();
  const gone = (await credentials(user)).find(({ type }) => type === "webauthn")?.["id"] ?? "";
  const path = `/admin/realms/master/users/${user}/credentials/${gone}`;
  assert.equal((await identity.send(path, { method: "DELETE", bearer })).status, 204, "an administrator removes it");
  await device.context.clearCookies();
  await device.page.goto(account());
  await device.page.getByRole("button", { name: "Log in with a passkey" }).click();
  await device.page.getByText("That passkey is not known here").waitFor();
  await device.context.close();
});

test("an answer is good for one login and one user, and a copied authenticator is found out", { skip }, async () => {
  await createUser("rosa");
  await createUser("rolf");
  const [rosa, rolf] = [await openDevice(), await openDevice()];
  await logIn(rosa, "rosa");
  await setUp(rosa);
  await logIn(rolf, "rolf");
  await setUp(rolf);

  // What the browser sends is caught, and sent again elsewhere.
  let caught = "";
  await rosa.context.clearCookies();
  await rosa.page.goto(account());
  await rosa.page.route("**/login-actions/**", async (route) => {
    caught = new URLSearchParams(route.request().postData() ?? "").get("passkey") ?? caught;
    await route.continue();
  });
  await rosa.page.getByRole("button", { name: "Log in with a passkey" }).click();
  await rosa.page.getByRole("heading", { name: "Second factor" }).waitFor();
  assert.match(caught, /clientDataJSON/);
  const thief = new Browser();
  const page = await thief.open(account());
  const form = readPageForm(page);
  const replayed = await thief.open(form.action, { form: { ...form.fields, passkey: caught } });
  assert.equal(replayed.status, 400);
  assert.match(replayed.text, /That passkey is not known here, or was not right/);
  for (const response of ["", "{}", "null", "[]", '{"id":"a","response":{}}', "x".repeat(40_000)]) {
    const fresh = readPageForm(await thief.open(account()));
    assert.equal(
      (await thief.open(fresh.action, { form: { ...fresh.fields, passkey: response } })).status,
      400,
      response.slice(0, 9),
    );
  }

  // The passkey of somebody else is no second factor.
  const { credentials: keys } = await rolf.session.send("WebAuthn.getCredentials", {
    authenticatorId: rolf.authenticator,
  });
  const [copy] = keys;
  await rolf.context.clearCookies();
  await logIn(rolf, "rosa");
  await rolf.page.getByRole("button", { name: "Use a passkey" }).click();
  await rolf.page.getByText(/was not used/).waitFor();

  // A copy that was made before answers with a counter that was seen.
  await rolf.context.clearCookies();
  await rolf.page.goto(account());
  await rolf.page.getByRole("button", { name: "Log in with a passkey" }).click();
  await rolf.page.getByRole("heading", { name: "Second factor" }).waitFor();
  const other = await openDevice();
  await other.session.send("WebAuthn.addCredential", {
    authenticatorId: other.authenticator,
    credential: copy as NonNullable<typeof copy>,
  });
  await other.page.goto(account());
  await other.page.getByRole("button", { name: "Log in with a passkey" }).click();
  await other.page.getByText("That passkey is not known here, or was not right").waitFor();
  await Promise.all([rosa, rolf, other].map(({ context }) => context.close()));
});

test("pages with passkeys run this service's script and no other", async () => {
  const response = await new Browser().open(account());
  const policy = response.headers.get("content-security-policy") ?? "";
  assert.match(policy, /script-src 'self'$/);
  assert.match(policy, /default-src 'none'/);
  const script = await identity.send("/resources/passkeys.js");
  assert.match(script.headers.get("content-type") ?? "", /^text\/javascript/);
});
