import assert from "node:assert/strict";
import { type IncomingMessage, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";

import { waitUntil } from "@swath/testing";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";

import { Browser, readPageForm } from "./browser.ts";
import { PASSWORD, SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

/** A relying party that hears of logouts. */
interface Told {
  readonly path: string;
  readonly type: string | undefined;
  readonly token: string;
}

let identity: TestIdentity;
let admin: string;
let base: string;
const told: Told[] = [];
/** Statuses that the next requests to `/flaky` get. */
let failures: number[] = [];

const party = createServer((request, response) => {
  const path = request.url ?? "";
  void readBody(request).then((body) => {
    told.push({
      path,
      type: request.headers["content-type"],
      token: new URLSearchParams(body).get("logout_token") ?? "",
    });
    response.writeHead(path === "/flaky" ? (failures.shift() ?? 204) : path === "/refusing" ? 400 : 200).end();
  });
});

before(async () => {
  await new Promise<void>((resolve) => party.listen(0, "127.0.0.1", resolve));
  base = `http://127.0.0.1:${(party.address() as AddressInfo).port}`;
  identity = await startIdentity();
  admin = (await identity.logIn("admin")).access_token;
  for (const [clientId, attributes] of Object.entries({
    told: { "backchannel.logout.url": `${base}/told`, "frontchannel.logout.url": `${base}/front?keep=1` },
    flaky: { "backchannel.logout.url": `${base}/flaky` },
    refusing: { "backchannel.logout.url": `${base}/refusing` },
    inside: { "backchannel.logout.url": "http://169.254.169.254/latest/meta-data" },
    silent: {},
  })) {
    const made = await identity.send("/admin/realms/master/clients", {
      bearer: admin,
      json: {
        clientId,
        secret: SECRET,
        redirectUris: ["http://127.0.0.1/callback"],
        frontchannelLogout: clientId === "told",
        attributes: { ...attributes, "post.logout.redirect.uris": "+" },
      },
    });
    assert.equal(made.status, 201, made.text);
  }
});
after(async () => {
  await identity.close();
  party.closeAllConnections();
  party.close();
});

async function readBody(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request as AsyncIterable<Buffer>) {
    text += chunk.toString();
  }
  return text;
}

const OIDC = "/realms/master/protocol/openid-connect";
const logIn = (client: string) => identity.logIn("eric", PASSWORD, { client_id: client, client_secret: SECRET });
const logOut = (client: string, refresh: string) =>
  identity.send(`${OIDC}/logout`, { form: { client_id: client, client_secret: SECRET, refresh_token: refresh } });

/** Waits for what is to come to `path`. */
async function heardAt(path: string, sid: string, count = 1): Promise<readonly Told[]> {
  return waitUntil(`${path} hears of ${sid}`, () => {
    const found = told.filter((one) => one.path === path && decodeJwt(one.token)["sid"] === sid);
    return found.length >= count ? found : undefined;
  });
}
const notices = async (sid: string) =>
  (await identity.context.pool.query("select 1 from logout_notice where session_id = $1", [sid])).rowCount;

test("a client hears of a logout by a token that it can verify (Back-Channel Logout §2.4, §2.5)", async () => {
  const tokens = await logIn("told");
  assert.equal((await logOut("told", tokens.refresh_token)).status, 204);
  const [heard] = await heardAt("/told", tokens.session_state);
  assert.match(heard?.type ?? "", /^application\/x-www-form-urlencoded/);
  const keys = createRemoteJWKSet(new URL(`${identity.url}${OIDC}/certs`));
  const { payload, protectedHeader } = await jwtVerify(heard?.token ?? "", keys, {
    issuer: identity.issuer,
    audience: "told",
    typ: "logout+jwt",
    requiredClaims: ["iat", "exp", "jti", "events", "sub", "sid"],
  });
  assert.notEqual(protectedHeader.alg, "none");
  assert.equal(payload["nonce"], undefined);
  assert.equal(payload.sub, decodeJwt(tokens.id_token).sub);
  assert.deepEqual(payload["events"], { "http://schemas.openid.net/event/backchannel-logout": {} });
  assert.equal((await identity.send(`${OIDC}/userinfo`, { bearer: heard?.token ?? "" })).status, 401);
  const hint = new URLSearchParams({ id_token_hint: heard?.token ?? "", client_id: "silent" }).toString();
  assert.notEqual((await identity.send(`${OIDC}/logout?${hint}`)).status, 302);
});

test("however a session ends, its clients hear of it, and only they", async () => {
  const users = (await identity.send("/admin/realms/master/users?username=eric&exact=true", { bearer: admin })).body;
  const first = await logIn("told");
  const other = await logIn("silent");
  await identity.send(`/admin/realms/master/users/${users[0].id}/logout`, { method: "POST", bearer: admin });
  await heardAt("/told", first.session_state);
  assert.equal(told.filter(({ token }) => decodeJwt(token)["sid"] === other.session_state).length, 0);
  const second = await logIn("told");
  await identity.send(`/admin/realms/master/sessions/${second.session_state}`, { method: "DELETE", bearer: admin });
  await heardAt("/told", second.session_state);
});

test("a client that does not answer is asked again; one that refuses is not (§2.8)", async () => {
  failures = [503, 500];
  const flaky = await logIn("flaky");
  const refused = await logIn("refusing");
  await logOut("flaky", flaky.refresh_token);
  await logOut("refusing", refused.refresh_token);
  const [one, two, three] = await heardAt("/flaky", flaky.session_state, 3);
  assert.equal(new Set([one, two, three].map((heard) => decodeJwt(heard?.token ?? "").jti)).size, 3);
  await heardAt("/refusing", refused.session_state);
  await waitUntil("the notice is given up", async () => (await notices(refused.session_state)) === 0);
  assert.equal(told.filter(({ path }) => path === "/refusing").length, 1);
});

test("an address that is not public is not asked", async () => {
  const inside = await logIn("inside");
  await logOut("inside", inside.refresh_token);
  const line = await waitUntil("it is refused", () => identity.logged.find((text) => text.includes("169.254.169.254")));
  assert.match(line, /which is not public/);
});

test("a browser that logs out opens the pages of its clients in frames (Front-Channel Logout §2)", async () => {
  const browser = new Browser();
  const query = new URLSearchParams({
    client_id: "told",
    response_type: "code",
    scope: "openid",
    redirect_uri: "http://127.0.0.1/callback",
  });
  const form = readPageForm(await browser.open(`${identity.url}${OIDC}/auth?${query.toString()}`));
  const back = await browser.open(form.action, { form: { ...form.fields, username: "bob", password: PASSWORD } });
  const tokens = (
    await identity.send(`${OIDC}/token`, {
      basic: ["told", SECRET],
      form: {
        grant_type: "authorization_code",
        code: new URL(back.url).searchParams.get("code") ?? "",
        redirect_uri: "http://127.0.0.1/callback",
      },
    })
  ).body;
  const logout = new URLSearchParams({
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: "http://127.0.0.1/callback",
    state: "s",
  });
  const page = await browser.open(`${identity.url}${OIDC}/logout?${logout.toString()}`);
  assert.equal(page.status, 200);
  const frame = new URL((/<iframe[^>]* src="([^"]+)"/.exec(page.text)?.[1] ?? "").replaceAll("&amp;", "&"));
  assert.equal(frame.origin, base);
  assert.equal(frame.searchParams.get("keep"), "1");
  assert.equal(frame.searchParams.get("iss"), identity.issuer);
  assert.equal(frame.searchParams.get("sid"), tokens.session_state);
  assert.match(page.headers.get("content-security-policy") ?? "", new RegExp(`frame-src ${base}$`));
  assert.match(page.headers.get("refresh") ?? "", /^\d+;url=http:\/\/127\.0\.0\.1\/callback\?state=s$/);
  await heardAt("/told", tokens.session_state);
});
