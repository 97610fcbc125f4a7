import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";

import { findFreePort, waitUntil } from "@swath/testing";
import { SMTPServer } from "smtp-server";

import { cleanUp } from "../realms/clean-up.ts";
import { Browser, type Page, readPageForm } from "./browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let smtp: SMTPServer;
let isRefusing = false;
const received: { readonly to: readonly string[]; readonly text: string }[] = [];

before(async () => {
  const port = await findFreePort();
  smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onRcptTo: (_address, _session, callback) => callback(isRefusing ? new Error("mailbox is full") : undefined),
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => void chunks.push(chunk));
      stream.on("end", () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        received.push({ to, text: Buffer.concat(chunks).toString() });
        callback();
      });
    },
  });
  await new Promise<void>((resolve) => smtp.listen(port, "127.0.0.1", resolve));
  identity = await startIdentity({ login: true, smtpUrl: `smtp://127.0.0.1:${port}` });
});
after(async () => {
  await identity?.close();
  await new Promise<void>((resolve) => smtp.close(resolve));
});

async function logIn(username: string): Promise<{ browser: Browser; page: Page }> {
  const browser = new Browser();
  const { action, fields } = readPageForm(await browser.open(`${identity.url}/web_ui`));
  const page = await browser.open(action, { form: { ...fields, username, password: PASSWORD } });
  assert.equal(page.url, `${identity.url}/web_ui/profile_management`);
  return { browser, page };
}

/** Sends a form of a section with its own token. */
async function send(browser: Browser, path: string, form: Record<string, string>, to = `${path}/modify`) {
  const page = await browser.open(`${identity.url}/web_ui${path}`);
  const token = /name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  return browser.open(`${identity.url}/web_ui${to}`, { form: { form_token: token, ...form } });
}

const findUser = async (username: string) =>
  (
    await identity.context.pool.query<{ id: string; email: string; email_verified: boolean }>(
      "select id, email, email_verified from app_user where username = $1",
      [username],
    )
  ).rows[0];

test("the section that was asked for comes after the login, and forms need the token of the session", async () => {
  const browser = new Browser();
  const { action, fields } = readPageForm(await browser.open(`${identity.url}/web_ui/apis_management`));
  const page = await browser.open(action, { form: { ...fields, username: "bob", password: PASSWORD } });
  assert.equal(page.url, `${identity.url}/web_ui/apis_management`);
  const form = { action: "add", name: "x", key: "y" };
  assert.equal((await browser.open(`${identity.url}/web_ui/apis_management/modify`, { form })).status, 403);
  const other = await logIn("alice");
  const [, token = ""] = /name="form_token" value="([^"]+)"/.exec(other.page.text) ?? [];
  assert.equal(
    (await browser.open(`${identity.url}/web_ui/apis_management/modify`, { form: { ...form, form_token: token } }))
      .status,
    403,
    "a token of another session",
  );
});

test("the address in a message confirms the e-mail address, once, and not when a program only fetches it", async () => {
  const { browser } = await logIn("eric");
  const profile = { action: "profile", first_name: "Eric", last_name: "Example", email: "eric@example.org" };
  assert.match((await send(browser, "/profile_management", profile)).text, /Your profile is saved/);
  isRefusing = true;
  const refused = await send(browser, "/profile_management", { action: "confirmation" }, "/confirmation_mail");
  assert.equal(refused.status, 400);
  assert.match(refused.text, /did not take the message/);
  isRefusing = false;
  const sent = await send(browser, "/profile_management", { action: "confirmation" }, "/confirmation_mail");
  assert.match(sent.text, /A message was sent to eric@example.org/, "an attempt that failed does not count");
  await waitUntil("the message arrives", async () => received.length > 0);
  const again = await send(browser, "/profile_management", { action: "confirmation" }, "/confirmation_mail");
  assert.match(again.text, /sent a moment ago/);
  const [message] = received;
  assert.deepEqual(message?.to, ["eric@example.org"]);
  const body = (message?.text ?? "").replaceAll("=\r\n", "").replaceAll("=3D", "=");
  const address = /http:\/\/\S+\/web_ui\/confirmation\/[\w-]{43}/.exec(body)?.[0] ?? "";
  assert.notEqual(address, "", body);
  const stranger = new Browser();
  assert.equal((await stranger.open(address)).status, 200);
  assert.equal((await findUser("eric"))?.email_verified, false);
  assert.match((await stranger.open(address, { form: {} })).text, /E-mail address confirmed/);
  assert.equal((await findUser("eric"))?.email_verified, true);
  assert.equal((await stranger.open(address, { form: {} })).status, 404);
  await send(browser, "/profile_management", { ...profile, email: "eric@elsewhere.org" });
  assert.equal((await findUser("eric"))?.email_verified, false, "a new address is to be confirmed anew");
  assert.equal(
    identity.logged.some((line) => line.includes(address.slice(-43))),
    false,
  );
});

test("licences, API keys and storage are one's own, checked and bounded; secrets are shown on request", async () => {
  const { browser } = await logIn("eric");
  const bob = await logIn("bob");
  const path = "/apis_management";
  assert.equal((await send(browser, path, { action: "add", name: "" })).status, 400);
  const script = "javascript:alert(1)";
  assert.match(
    (await send(browser, path, { action: "add", name: "x", link: script, key: "k" })).text,
    /must be an address/,
  );
  const added = await send(browser, path, { action: "add", name: "<b>maps", key: "very secret key" });
  assert.match(added.text, /The API key is saved/);
  assert.match(added.text, /&lt;b&gt;maps/);
  assert.doesNotMatch(added.text, /very secret key/);
  const entry = /name="entry" value="([^"]+)"/.exec(added.text)?.[1] ?? "";
  assert.match((await send(browser, path, { action: "show", entry })).text, /very secret key/);
  assert.doesNotMatch((await send(bob.browser, path, { action: "show", entry })).text, /very secret key/);
  assert.equal((await send(bob.browser, path, { action: "remove", entry })).status, 400, "somebody else's");
  assert.match((await send(browser, path, { action: "remove", entry })).text, /is removed/);
  const storage = { action: "add", name: "own", endpoint: "https://s3.example.org", bucket: "data", secret: "s" };
  assert.match((await send(browser, "/storage_details", storage)).text, /https:\/\/s3.example.org/);
  const licence = { action: "add", name: "CC BY 4.0", link: "https://creativecommons.org/licenses/by/4.0/" };
  assert.match((await send(browser, "/licenses_management", licence)).text, /CC BY 4.0/);
  for (let count = 1; count < 100; count += 1) {
    await identity.context.pool.query(
      "insert into profile_entry (user_id, kind, fields) values ($1, 'license', '{}')",
      [(await findUser("eric"))?.id],
    );
  }
  assert.match((await send(browser, "/licenses_management", licence)).text, /You have 100 already/);
  assert.equal(
    (await send(browser, path, { action: "add", name: "x", key: "k".repeat(3000) })).status,
    400,
    "longer than allowed",
  );
});

test("accepted terms count for the decision point, until they are withdrawn", async () => {
  const admin = await identity.logIn("admin");
  const token = { bearer: String(admin.access_token) };
  const term = { term_id: "terms-1", name: "Fair use", description: "Be <kind>." };
  assert.equal((await identity.send("/pdp/terms/", { ...token, json: term })).status, 200);
  const rules = [{ AND: [{ EQUAL: { user_name: "bob" } }] }];
  const policy = { name: "p", config: { resource_id: "loose", action: "view", "T&C": ["terms-1"], rules } };
  assert.equal((await identity.send("/pdp/policy/", { ...token, json: policy })).status, 200);
  const decide = async () =>
    (
      await identity.send("/pdp/policy/validate", {
        ...token,
        json: {
          Request: {
            AccessSubject: [{ Attribute: [{ AttributeId: "user_name", Value: "bob" }] }],
            Action: [{ Attribute: [{ AttributeId: "action-id", Value: "view" }] }],
            Resource: [{ Attribute: [{ AttributeId: "resource-id", Value: "loose" }] }],
          },
        },
      })
    ).status;
  assert.equal(await decide(), 401);
  const { browser } = await logIn("bob");
  const page = await send(browser, "/TC_management", { action: "accept", term: "terms-1" });
  assert.match(page.text, /Be &lt;kind&gt;\./);
  assert.match(page.text, /Accepted 20/);
  assert.equal(await decide(), 200);
  await send(browser, "/TC_management", { action: "withdraw", term: "terms-1" });
  assert.equal(await decide(), 401);
  assert.equal((await send(browser, "/TC_management", { action: "accept", term: "no\u0000such" })).status, 400);
});

test("an account goes after the time to think again, and stays when its user did", async () => {
  const { browser } = await logIn("alice");
  const path = "/profile_removal";
  const removal = { action: "remove", username: "alice", password: PASSWORD };
  assert.match((await send(browser, path, { ...removal, username: "bob" })).text, /not your user name/);
  assert.match((await send(browser, path, { ...removal, password: "wrong" })).text, /password is not right/);
  assert.match((await send(browser, path, removal)).text, /will be removed after/);
  const { id } = (await findUser("alice")) ?? { id: "" };
  await cleanUp(identity.context);
  assert.notEqual(await findUser("alice"), undefined, "not before its time");
  assert.match((await send(browser, path, { action: "keep" })).text, /Your account stays/);
  await send(browser, path, removal);
  await identity.context.pool.query("update account_removal set due_at = now() - interval '1 second'");
  const before = await identity.logIn("alice");
  await cleanUp(identity.context);
  assert.equal(await findUser("alice"), undefined);
  const after = await identity.send("/oxauth/restv1/userinfo", { bearer: String(before.access_token) });
  assert.equal(after.status, 401);
  const { rows } = await identity.context.pool.query("select 1 from profile_entry where user_id = $1", [id]);
  assert.equal(rows.length, 0);
  const admin = await logIn("admin");
  const refused = await send(admin.browser, path, { ...removal, username: "admin" });
  assert.match(refused.text, /administrator cannot remove the own account/);
});

test("the outbox is for operators", async () => {
  const admin = await logIn("admin");
  assert.equal((await admin.browser.open(`${identity.url}/web_ui/outbox`)).status, 200);
  const { browser } = await logIn("bob");
  assert.equal((await browser.open(`${identity.url}/web_ui/outbox`)).status, 403);
});

test("a mail server that hangs up does not take the service with it", async () => {
  const closing = createServer().on("connection", (socket) => socket.destroy());
  await new Promise<void>((resolve) => closing.listen(0, "127.0.0.1", resolve));
  const { createSmtpMailer } = await import("../mail/mailer.ts");
  const { port } = closing.address() as { port: number };
  const mailer = createSmtpMailer({ url: `smtp://127.0.0.1:${port}`, from: "a@example.org" });
  await assert.rejects(mailer.send({ to: "b@example.org", subject: "s", text: "t" }));
  mailer.close();
  closing.close();
});
