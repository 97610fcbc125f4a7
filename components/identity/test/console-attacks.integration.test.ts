import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Browser, readPageForm } from "./browser.ts";
import { formTokenOf, linkOf, noticeOf, openConsole, submitForm } from "./console-browser.ts";
import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

let identity: TestIdentity;
let admin: Browser;
before(async () => {
  identity = await startIdentity();
  admin = await openConsole(identity.url, "admin");
});
after(() => identity.close());

const at = (path: string) => `${identity.url}/console/realms/master${path}`;
const submit = (url: string, action: string, form: Record<string, string> = {}) => submitForm(admin, url, action, form);

test("who is no administrator sees nothing and changes nothing", async () => {
  const eric = await openConsole(identity.url, "eric");
  const page = await eric.open(at("/users"));
  assert.equal(page.status, 403);
  assert.match(page.text, /lacks the role <strong>admin<\/strong>/);
  assert.match(page.text, /openid-connect\/logout/);
  const token = formTokenOf(await admin.open(at("/users/new")));
  const form = { form_token: token, action: "create", username: "mallory" };
  assert.equal((await eric.open(at("/users/new"), { form })).status, 403);
  // Nobody is sent to log in, a post too.
  assert.match((await new Browser().open(at("/users/new"), { form })).url, /login-actions/);
  assert.match((await admin.open(at("/users?search=mallory"))).text, /0 users/);

  // Neither does a session of another realm open it, not even one of somebody called admin, nor under the other cookie's name.
  await submit(`${identity.url}/console/new-realm`, "create", { realm: "other" });
  const elsewhere = `${identity.url}/console/realms/other`;
  await submit(`${elsewhere}/users/new`, "create", { username: "admin", password: PASSWORD, enabled: "yes" });
  await submit(`${elsewhere}/roles`, "role", { name: "admin", client: "" });
  const boss = linkOf(await admin.open(`${elsewhere}/users`), "admin");
  const role =
    linkOf(await admin.open(`${elsewhere}/roles`), "admin")
      .split("/")
      .at(-1) ?? "";
  assert.equal(noticeOf(await submit(boss, "give", { role })), "The role is given.");
  const foreign = new Browser();
  const login = readPageForm(await foreign.open(`${identity.url}/realms/other/account`));
  const inside = await foreign.open(login.action, { form: { ...login.fields, username: "admin", password: PASSWORD } });
  assert.equal(inside.status, 200);
  assert.ok([...foreign.cookies.keys()].includes("swath_login_other"));
  for (const rename of [(name: string) => name, (name: string) => name.replace("other", "master")]) {
    const browser = new Browser();
    browser.adopt(new Map([...foreign.cookies].map(([name, value]) => [rename(name), value])));
    assert.match((await browser.open(at("/users"))).url, /login-actions/);
    assert.match((await browser.open(at("/users/new"), { form })).url, /login-actions/);
    assert.match((await browser.open(`${elsewhere}/users`)).url, /login-actions/);
  }
  await submit(`${elsewhere}/settings/delete`, "confirm");
});

test("an administrator who loses the role is out at once", async () => {
  const alice = linkOf(await admin.open(at("/users?search=alice")), "alice");
  const role =
    linkOf(await admin.open(at("/roles")), "admin")
      .split("/")
      .at(-1) ?? "";
  await submit(alice, "give", { role });
  const browser = await openConsole(identity.url, "alice");
  assert.equal((await browser.open(at("/users"))).status, 200);
  await submit(alice, "take", { role });
  assert.equal((await browser.open(at("/users"))).status, 403);
});

test("forms without their token, or with one of another session, are refused", async () => {
  const other = await openConsole(identity.url, "admin");
  const foreign = formTokenOf(await other.open(at("/users/new")));
  for (const token of [{}, { form_token: "" }, { form_token: foreign }, { form_token: `${foreign}x` }]) {
    const page = await admin.open(at("/users/new"), { form: { ...token, action: "create", username: "mallory" } });
    assert.equal(page.status, 403);
    assert.match(page.text, /did not come from this page/);
  }
  assert.match((await admin.open(at("/users?search=mallory"))).text, /0 users/);
  const page = await admin.open(at("/users/new"));
  const token = formTokenOf(page);
  for (const action of ["nothing", "constructor", "__proto__"]) {
    assert.equal((await admin.open(at("/users/new"), { form: { form_token: token, action } })).status, 400);
  }
});

test("what people type is shown as text", async () => {
  const evil = `"><script>alert(1)</script>`;
  const refused = await submit(at("/users/new"), "create", { username: evil, firstName: evil });
  assert.equal(refused.status, 400);
  assert.ok(!refused.text.includes("<script>"));
  const made = await submit(at("/users/new"), "create", { username: "evil", firstName: evil, lastName: evil });
  assert.ok(!made.text.includes("<script>"));
  for (const path of [
    "/users?search=evil",
    `/users?search=${encodeURIComponent(evil)}`,
    `/events?user=${encodeURIComponent(evil)}&type=${encodeURIComponent(evil)}`,
    `/users?done=${encodeURIComponent(evil)}`,
  ]) {
    const page = await admin.open(at(path));
    assert.equal(page.status, 200, path);
    assert.ok(!page.text.includes("<script>"), path);
  }
  assert.equal((await admin.open(`${identity.url}/console/switch?realm=//evil.example`)).status, 404);
});
