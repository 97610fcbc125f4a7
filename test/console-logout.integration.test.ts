import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";

import { Browser, readPageForm } from "../components/identity/test/browser.ts";
import { CLIENTS, PASSWORD, type TestIdentity, startIdentity } from "../components/identity/test/start-identity.ts";
import { startObjstore } from "../components/objstore/test/start-objstore.ts";
import { type TestRegistry, startTestRegistry } from "../components/registry/test/start-registry.ts";

/** Consoles that hear of logouts from the identity service (OpenID Connect Back-Channel Logout 1.0). */
let identity: TestIdentity;
let registry: TestRegistry;
let store: Awaited<ReturnType<typeof startObjstore>>;
let storeUrl: string;

before(async () => {
  identity = await startIdentity();
  registry = await startTestRegistry({ IDENTITY_ISSUER: identity.issuer });
  const [http, console] = [await findFreePort(), await findFreePort()];
  storeUrl = `http://127.0.0.1:${console}`;
  store = await startObjstore(
    { PUBLIC_URL: `http://127.0.0.1:${http}`, CONSOLE_URL: storeUrl, IDENTITY_ISSUER: identity.issuer },
    { http, console },
  );
  await identity.setUpAgain([
    ...CLIENTS,
    ...[
      ["registry", registry.url],
      ["objstore-console", storeUrl],
    ].map(([clientId = "", url = ""]) => ({
      clientId,
      name: clientId,
      redirectUris: [`${url}/api/login/callback`],
      backChannelLogoutUri: `${url}/api/login/back-channel`,
    })),
  ]);
});
after(async () => {
  await store?.stop();
  await registry?.close();
  await identity?.close();
});

/** Logs in to a console with the platform's login, and gives its cookies. */
async function logIn(console: string, user: string): Promise<string> {
  const [atConsole, atIdentity] = [new Browser(), new Browser()];
  const { url: login } = await atConsole.open(`${console}/api/login`);
  const form = readPageForm(await atIdentity.open(login));
  const { url: callback } = await atIdentity.open(form.action, {
    form: { ...form.fields, username: user, password: PASSWORD },
  });
  assert.match(callback, /[?&]code=/);
  await atConsole.open(callback);
  return [...atConsole.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
}

const statusOf = async (console: string, cookie: string) =>
  (await fetch(`${console}/api/session`, { headers: { cookie } })).status;

for (const [name, urlOf, user, other] of [
  ["registry", () => registry.url, "eric", "admin"],
  // Nobody but the administrator has a role there at first.
  ["object store", () => storeUrl, "admin", undefined],
] as const) {
  test(`a session of the ${name}'s console ends when the user's sessions end at the identity service`, async () => {
    const console = urlOf();
    const cookie = await logIn(console, user);
    const others = other && (await logIn(console, other));
    assert.equal(await statusOf(console, cookie), 200);
    const bearer = (await identity.logIn("admin")).access_token;
    const users = await identity.send(`/admin/realms/master/users?username=${user}&exact=true`, { bearer });
    const ended = await identity.send(`/admin/realms/master/users/${users.body[0].id}/logout`, {
      method: "POST",
      bearer,
    });
    assert.equal(ended.status, 204);
    await waitUntil("the user is logged out", async () => (await statusOf(console, cookie)) === 401);
    if (others !== undefined) {
      assert.equal(await statusOf(console, others), 200, "the session of another user goes on");
    }
    const forged = await fetch(`${console}/api/login/back-channel`, {
      method: "POST",
      body: new URLSearchParams({ logout_token: bearer }),
    });
    assert.equal(forged.status, 400, "an access token is no logout token");
  });
}
