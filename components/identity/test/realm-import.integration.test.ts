import assert from "node:assert/strict";
import { pbkdf2Sync } from "node:crypto";
import { after, before, test } from "node:test";

import { TOTP } from "otpauth";

import { PASSWORD, type TestIdentity, startIdentity } from "./start-identity.ts";

// A realm as Keycloak 26 exports it, cut down to one of each kind.
const SALT = Buffer.from("0123456789abcdef");
const ERIC = "0b5d8a3e-0000-4000-8000-000000000001";
const KEY = "12345678901234567890";

const hashed = (digest: "sha256" | "sha512", password: string, iterations = 1000) => ({
  type: "password",
  secretData: JSON.stringify({
    value: pbkdf2Sync(password, SALT, iterations, 64, digest).toString("base64"),
    salt: SALT.toString("base64"),
    additionalParameters: {},
  }),
  credentialData: JSON.stringify({
    hashIterations: iterations,
    algorithm: `pbkdf2-${digest}`,
    additionalParameters: {},
  }),
});

const EXPORT = {
  id: "6f1d8a3e-0000-4000-8000-000000000009",
  displayName: "The Institute",
  enabled: true,
  accessTokenLifespan: 300,
  passwordPolicy: "length(12) and passwordHistory(3) and digits(1)",
  registrationAllowed: true,
  smtpServer: { host: "mail.example.org" },
  browserFlow: "browser",
  eventsExpiration: 0,
  roles: {
    realm: [{ name: "scientist" }, { name: "lead", composite: true, composites: { realm: ["scientist"] } }],
    client: { robot: [{ name: "drives" }], "realm-management": [{ name: "manage-users" }] },
  },
  groups: [{ name: "eo", attributes: { site: ["frascati"] }, realmRoles: ["scientist"], subGroups: [{ name: "sar" }] }],
  clients: [
    { clientId: "robot", secret: "robot-secret", serviceAccountsEnabled: true, directAccessGrantsEnabled: true },
    { clientId: "saml", protocol: "saml" },
  ],
  users: [
    {
      id: ERIC,
      username: "eric",
      createdTimestamp: 1_500_000_000_000,
      email: "eric@example.org",
      emailVerified: true,
      enabled: true,
      attributes: { orcid: ["0000-1"] },
      credentials: [hashed("sha512", "old password of eric")],
      realmRoles: ["lead", "gone"],
      clientRoles: { robot: ["drives"] },
      groups: ["/eo/sar"],
      federatedIdentities: [{ identityProvider: "github" }],
    },
    { username: "anna", enabled: false, credentials: [hashed("sha256", "old password of anna")] },
    {
      username: "otto",
      enabled: true,
      credentials: [
        hashed("sha256", "old password of otto"),
        {
          type: "otp",
          userLabel: "phone",
          secretData: JSON.stringify({ value: KEY }),
          credentialData: JSON.stringify({ subType: "totp", digits: 6, period: 30, counter: 0, algorithm: "HmacSHA1" }),
        },
      ],
      clientRoles: { "realm-management": ["manage-users"] },
    },
    { username: "two words", enabled: true },
    { username: "erica", email: "ERIC@example.org", enabled: true },
    { username: "service-account-robot", serviceAccountClientId: "robot", realmRoles: ["scientist"] },
  ],
};

let identity: TestIdentity;
let admin: string;
before(async () => {
  identity = await startIdentity();
  ({ access_token: admin } = (await identity.logIn("admin")) as { access_token: string });
});
after(() => identity.close());

interface NotImported {
  readonly resourceType: string;
  readonly resourceName: string;
  readonly why: string;
}

const logInTo = (realm: string, username: string, password: string, more: object = {}) =>
  identity.send(`/realms/${realm}/protocol/openid-connect/token`, {
    form: { grant_type: "password", client_id: "admin-cli", username, password, ...more },
  });

test("a realm that comes with everything is there with everything, and what is not is listed", async () => {
  const { status, body } = await identity.send("/admin/realms", {
    json: { ...EXPORT, realm: "institute" },
    bearer: admin,
  });
  assert.equal(status, 201, JSON.stringify(body));
  const left = (body.notImported as NotImported[]).map(
    ({ resourceType, resourceName, why }) => `${resourceType} ${resourceName}: ${why}`,
  );
  for (const expected of [
    /^REALM_SETTING registrationAllowed/,
    /^REALM_SETTING smtpServer/,
    /^REALM_SETTING browserFlow/,
    /^REALM_SETTING passwordPolicy: the rule digits\(1\)/,
    /^REALM_SETTING eventsExpiration: .*allowed/,
    /^CLIENT saml: protocol/,
    /^USER eric: the role gone is not there/,
    /^USER eric: federatedIdentities/,
    /^USER two words: username must be/,
    /^USER erica: something else here has its name, id or e-mail address/,
  ]) {
    assert.ok(
      left.some((line) => expected.test(line)),
      `${String(expected)} among ${left.join("\n")}`,
    );
  }
  assert.equal(left.length, 10, left.join("\n"));
  const realm = (await identity.send("/admin/realms/institute", { bearer: admin })).body;
  assert.deepEqual(
    [realm.displayName, realm.accessTokenLifespan, realm.passwordMinimumLength, realm.passwordHistory],
    ["The Institute", 300, 12, 3],
  );
});

test("users log in with their old passwords, have the same ids, roles and groups, and their hashes are renewed", async () => {
  const stored = async () =>
    (
      await identity.context.pool.query<{ password_hash: string }>(
        "select password_hash from credential where user_id = $1",
        [ERIC],
      )
    ).rows[0]?.password_hash ?? "";
  assert.match(await stored(), /^\$pbkdf2-sha512\$i=1000\$/);
  assert.equal((await logInTo("institute", "eric", "another password")).status, 401);
  assert.match(await stored(), /^\$pbkdf2-sha512/);
  for (const time of ["first", "second"]) {
    const { status, body } = await logInTo("institute", "eric", "old password of eric");
    assert.equal(status, 200, `${time}: ${JSON.stringify(body)}`);
    const claims = JSON.parse(
      Buffer.from(String(body.access_token).split(".")[1] ?? "", "base64url").toString(),
    ) as Record<
      string,
      // oxlint-disable-next-line typescript/no-explicit-any -- claims are looked into freely
      any
    >;
    assert.equal(claims["sub"], ERIC);
    assert.deepEqual(
      ["scientist", "lead"].map((role) => claims["realm_access"].roles.includes(role)),
      [true, true],
    );
    assert.deepEqual(claims["resource_access"].robot.roles, ["drives"]);
    assert.match(await stored(), /^\$argon2id\$/, time);
  }
  const { body: shown } = await identity.send(`/admin/realms/institute/users/${ERIC}`, { bearer: admin });
  assert.deepEqual([shown.createdTimestamp, shown.attributes], [1_500_000_000_000, { orcid: ["0000-1"] }]);
  const { body: groups } = await identity.send(`/admin/realms/institute/users/${ERIC}/groups`, { bearer: admin });
  assert.deepEqual(
    (groups as { path: string }[]).map(({ path }) => path),
    ["/eo/sar"],
  );
  assert.equal((await logInTo("institute", "anna", "old password of anna")).status, 400, "is disabled");
  const robot = await identity.send("/realms/institute/protocol/openid-connect/token", {
    form: { grant_type: "client_credentials", client_id: "robot", client_secret: "robot-secret" },
  });
  assert.equal(robot.status, 200, robot.text);
});

test("a device for one-time codes is asked for, and its codes are right", async () => {
  assert.notEqual((await logInTo("institute", "otto", "old password of otto")).status, 200);
  const totp = new TOTP({ secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" }).generate();
  const { status, text } = await logInTo("institute", "otto", "old password of otto", { totp });
  assert.equal(status, 200, text);
});

test("in a realm that is there, nobody becomes its administrator by a document, and accounts stay as they are", async () => {
  const { realm: _, ...parts } = { realm: "", ...EXPORT };
  const send = (query: string) =>
    identity.send(`/admin/realms/master/partialImport?${query}`, {
      json: {
        ...parts,
        ifResourceExists: "SKIP",
        users: [
          ...EXPORT.users,
          {
            username: "mallory",
            enabled: true,
            realmRoles: ["admin"],
            credentials: [hashed("sha256", "password of mallory")],
          },
        ],
      },
      bearer: admin,
    });
  const { status, body } = await send("lenient=true");
  assert.equal(status, 200, JSON.stringify(body));
  const left = (body.notImported as NotImported[]).map(({ resourceName, why }) => `${resourceName}: ${why}`);
  assert.ok(left.includes("mallory: the role admin administers this realm; give it by hand"), left.join("\n"));
  assert.ok(left.includes("otto: the role realm-management/manage-users administers this realm; give it by hand"));
  const login = await identity.logIn("mallory", "password of mallory");
  assert.equal((await identity.send("/admin/realms/master/users", { bearer: login.access_token })).status, 403);
  // eric was there: his password is the one that he has here.
  assert.ok((await identity.logIn("eric", PASSWORD)).access_token);
  // Again: nothing changes.
  const again = await send("lenient=true");
  assert.equal(again.body.added, 0, JSON.stringify(again.body));
  // Who does not ask for leniency is told of the first thing that cannot be taken, and nothing is imported.
  const strict = await identity.send("/admin/realms/master/partialImport", {
    json: { users: [{ username: "newcomer" }, { username: "two words" }] },
    bearer: admin,
  });
  assert.equal(strict.status, 400);
  assert.deepEqual((await identity.send("/admin/realms/master/users?username=newcomer", { bearer: admin })).body, []);
});

test("passwords in clear text are taken, of as many users as one request may bring", async () => {
  const send = (users: readonly object[]) =>
    identity.send("/admin/realms/master/partialImport?lenient=true", {
      json: { ifResourceExists: "SKIP", users },
      bearer: admin,
    });
  const make = (name: string, count: number, credentials: readonly object[]) =>
    Array.from({ length: count }, (_, index) => ({ username: `${name}${index}`, enabled: true, credentials }));
  const plain = [{ type: "password", value: "in clear text 1", temporary: false }];
  assert.equal((await send(make("plain", 3, plain))).body.added, 3);
  assert.ok((await identity.logIn("plain2", "in clear text 1")).access_token);
  for (const [users, what] of [
    [make("many", 201, plain), /201 passwords in clear text; allowed: 200/],
    [make("many", 2001, []), /2001 entries; allowed: 2000/],
  ] as const) {
    const { status, text } = await send(users);
    assert.equal(status, 400);
    assert.match(text, what);
  }
  assert.equal((await identity.send("/admin/realms/master/users/count?search=many", { bearer: admin })).body, 0);
});

test("a hash whose comparison would hold up logins is not taken", async () => {
  const { body } = await identity.send("/admin/realms/master/partialImport?lenient=true", {
    json: {
      ifResourceExists: "SKIP",
      users: [
        {
          username: "slow",
          enabled: true,
          credentials: [
            {
              ...hashed("sha256", "x"),
              credentialData: JSON.stringify({ hashIterations: 1e9, algorithm: "pbkdf2-sha256" }),
            },
          ],
        },
      ],
    },
    bearer: admin,
  });
  assert.match(JSON.stringify(body.notImported), /1000000000 iterations/);
});
