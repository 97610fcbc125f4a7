import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import type { Browser } from "./browser.ts";
import { alertOf, noticeOf, openConsole, submitForm } from "./console-browser.ts";
import { type TestIdentity, startIdentity } from "./start-identity.ts";

/** Resources assigned to users, groups and roles, by the API and in the console's matrix. */
let identity: TestIdentity;
let bearer: string;
let admin: Browser;
let client: string;
before(async () => {
  identity = await startIdentity();
  bearer = (await identity.logIn("admin")).access_token as string;
  admin = await openConsole(identity.url, "admin");
  client = await idOf("/clients?clientId=dummy-service");
});
after(() => identity.close());

const api = (path: string, method = "GET", json?: unknown) =>
  identity.send(`/admin/realms/master${path}`, { bearer, method, ...(json !== undefined && { json }) });
const idOf = async (path: string): Promise<string> => {
  const [first] = (await api(path)).body as { id?: string; _id?: string }[];
  return first?.id ?? first?._id ?? assert.fail(path);
};
const rules = () => `/clients/${client}/authz/resource-server`;
const resourceOf = (name: string) => idOf(`${rules()}/resource?name=${name}&exactName=true`);
const assignments = async (name: string) => `${rules()}/resource/${await resourceOf(name)}/assignments`;
const may = async (userId: string, name: string): Promise<boolean> => {
  const { status, body } = await api(`${rules()}/policy/evaluate`, "POST", { userId, resources: [{ name }] });
  assert.equal(status, 200);
  return body.status === "PERMIT";
};

test("a declared resource is assigned to a user, a group and a role beside whom it was declared for, and taken back", async () => {
  const path = await assignments("eric");
  const [bob, alice] = [await idOf("/users?username=bob"), await idOf("/users?username=alice")];
  await api("/groups", "POST", { name: "readers" });
  await api("/roles", "POST", { name: "guest" });
  const [group, role] = [await idOf("/groups?search=readers"), (await api("/roles/guest")).body.id as string];
  assert.deepEqual((await api(path)).body, { users: [], groups: [], roles: [] });
  assert.equal(await may("bob", "eric"), false);

  assert.equal((await api(`${path}/users/${bob}`, "PUT")).status, 204);
  assert.equal((await api(`${path}/users/${bob}`, "PUT")).status, 204, "again changes nothing");
  assert.equal((await api(`${path}/groups/${group}`, "PUT")).status, 204);
  assert.equal((await api(`${path}/roles/${role}`, "PUT")).status, 204);
  assert.deepEqual((await api(path)).body, { users: [bob], groups: [group], roles: [role] });
  assert.deepEqual(
    [await may("eric", "eric"), await may("bob", "eric"), await may("alice", "eric")],
    [true, true, false],
  );
  await api(`/users/${alice}/groups/${group}`, "PUT");
  assert.equal(await may("alice", "eric"), true);

  // What the deployment declares is written anew at every apply; what was assigned stays.
  await identity.setUpAgain();
  assert.deepEqual((await api(path)).body, { users: [bob], groups: [group], roles: [role] });
  assert.deepEqual([await may("eric", "eric"), await may("bob", "eric")], [true, true]);

  assert.equal((await api(`${path}/groups/${group}`, "DELETE")).status, 204);
  assert.equal(await may("alice", "eric"), false);
  assert.equal((await api(`${path}/users/${bob}`, "DELETE")).status, 204);
  assert.equal((await api(`${path}/users/${bob}`, "DELETE")).status, 404);
  assert.equal((await api(`${path}/roles/${role}`, "DELETE")).status, 204);
  assert.deepEqual([await may("eric", "eric"), await may("bob", "eric")], [true, false]);
  const left = (await api(`${rules()}/policy?name=assigned`)).body as unknown[];
  assert.deepEqual(left, []);
});

test("a resource with no rules gets its own; where one more would let nobody in, that is said and nothing is changed", async () => {
  const made = await api(`${rules()}/resource`, "POST", { name: "lake", uris: ["/lake/*"] });
  assert.equal(made.status, 201, made.text);
  const path = await assignments("lake");
  const eric = await idOf("/users?username=eric");
  assert.equal((await api(`${path}/users/${eric}`, "PUT")).status, 204);
  assert.deepEqual([await may("eric", "lake"), await may("bob", "lake")], [true, false]);
  assert.equal((await api(`${path}/users/${eric}`, "DELETE")).status, 204);
  assert.deepEqual(
    await api(`${rules()}/permission?resource=${await resourceOf("lake")}`).then(({ body }) => body),
    [],
  );

  const policy = async (name: string, users: string[]) =>
    (await api(`${rules()}/policy/user`, "POST", { name, users })).body.id as string;
  const [one, two] = [await policy("lake one", ["eric"]), await policy("lake two", ["bob"])];
  const permission = { name: "both", resources: ["lake"], policies: [one, two], decisionStrategy: "UNANIMOUS" };
  assert.equal((await api(`${rules()}/permission/resource`, "POST", permission)).status, 201);
  const refused = await api(`${path}/users/${eric}`, "PUT");
  assert.equal(refused.status, 409, refused.text);
  assert.match(refused.text, /lake cannot be assigned: both decides about it/);
  assert.deepEqual((await api(`${rules()}/policy?name=lake assigned`)).body, []);
});

test("what is not there cannot be assigned, and who may not change rules cannot assign", async () => {
  const path = await assignments("bob");
  const nobody = "00000000-0000-4000-8000-000000000000";
  for (const kind of ["users", "groups", "roles"]) {
    assert.equal((await api(`${path}/${kind}/${nobody}`, "PUT")).status, 404, kind);
  }
  assert.equal((await api(`${path}/clients/${nobody}`, "PUT")).status, 400);
  assert.equal((await api(`${path}/users/nonsense`, "PUT")).status, 404);
  assert.equal((await api(path.replace(/resource\/[^/]+/, `resource/${nobody}`))).status, 404);
  const stranger = (await identity.logIn("eric")).access_token as string;
  const eric = await idOf("/users?username=eric");
  const response = await identity.send(`/admin/realms/master${path}/users/${eric}`, {
    bearer: stranger,
    method: "PUT",
  });
  assert.equal(response.status, 403);
});

test("the matrix of users, groups and roles leads to each field, where it is assigned and taken back", async () => {
  const matrix = `${identity.url}/console/realms/master/clients/${client}/protection/matrix`;
  const users = await admin.open(matrix);
  assert.match(users.text, /aria-label="Why bob may not use eric"/);
  const field =
    /href="([^"]+)"\s+aria-label="Why bob may not use eric"/.exec(users.text)?.[1] ?? assert.fail(users.text);
  const url = new URL(field, matrix).href;
  const page = await admin.open(url);
  assert.match(page.text.replaceAll(/\s+/g, " "), /bob may not use eric/);
  assert.equal(noticeOf(await submitForm(admin, url, "assign")), "It is assigned, and holds from now on.");
  assert.equal(await may("bob", "eric"), true);
  assert.match((await admin.open(matrix)).text, /aria-label="Why bob may use eric"/);
  assert.equal(noticeOf(await submitForm(admin, url, "revoke")), "It is taken back.");
  assert.equal(await may("bob", "eric"), false);

  for (const kind of ["groups", "roles"]) {
    assert.equal((await admin.open(`${matrix}/${kind}`)).status, 200, kind);
  }
  assert.match((await admin.open(`${matrix}/groups`)).text, /Why \/readers may not use eric/);
  assert.match((await admin.open(`${matrix}/roles?search=guest`)).text, /Why guest may not use eric/);
  assert.equal((await admin.open(`${matrix}/nonsense/${client}/${client}`)).status, 404);

  // Errors are shown where the form is.
  const lake = url.replace(/[^/]+$/, await resourceOf("lake"));
  const refused = await submitForm(admin, lake, "assign");
  assert.equal(refused.status, 409);
  assert.match(alertOf(refused) ?? "", /cannot be assigned: both decides/);
});

test("a role that opens a resource is given and taken in its field", async () => {
  const role = (await api("/roles/guest")).body.id as string;
  assert.equal((await api(`${await assignments("eric")}/roles/${role}`, "PUT")).status, 204);
  const bob = await idOf("/users?username=bob");
  const url = `${identity.url}/console/realms/master/clients/${client}/protection/matrix/users/${bob}/${await resourceOf("eric")}`;
  assert.match((await admin.open(url)).text, /Give guest to bob/);
  assert.equal(noticeOf(await submitForm(admin, url, "give", { role })), "The role is given.");
  assert.equal(await may("bob", "eric"), true);
  assert.equal(noticeOf(await submitForm(admin, url, "take", { role })), "The role is taken away.");
  assert.equal(await may("bob", "eric"), false);
});
