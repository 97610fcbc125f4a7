// What is sent to the protection API and to the ticket grant at random: never a failure of the service, never a token too many.
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, test } from "node:test";

import { SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:uma-ticket";
/** The same interfaces at the addresses of both variants. */
const FACES = [
  {
    token: "/realms/master/protocol/openid-connect/token",
    permission: "/realms/master/authz/protection/permission",
    resources: "/realms/master/authz/protection/resource_set",
  },
  {
    token: "/oxauth/restv1/token",
    permission: "/oxauth/restv1/host/rsrc_pr",
    resources: "/oxauth/restv1/host/rsrc/resource_set",
  },
] as const;

let identity: TestIdentity;
let server = "";
const users = new Map<string, string>();
before(async () => {
  identity = await startIdentity({ login: true });
  for (const name of ["eric", "bob"]) {
    users.set(name, (await identity.logIn(name)).access_token);
  }
  const { body } = await identity.send(FACES[0].token, {
    basic: ["dummy-service", SECRET],
    form: { grant_type: "client_credentials" },
  });
  server = body.access_token;
});
after(() => identity.close());

const LEAVES: readonly unknown[] = [
  null,
  true,
  -1,
  1e308,
  "",
  "nobody",
  "a\u0000b",
  "\ud800",
  "x".repeat(70_000),
  "00000000-0000-0000-0000-000000000000",
  "../../x",
  "'; drop table client; --",
  {},
  [],
];
const FIELDS = [
  "resource_id",
  "resource_scopes",
  "name",
  "uris",
  "type",
  "owner",
  "ownerManagedAccess",
  "_id",
  "__proto__",
];

const pick = <T>(list: readonly T[]): T => list[randomInt(list.length)] as T;
function random(depth: number): unknown {
  if (depth === 0) {
    return pick(LEAVES);
  }
  return randomInt(2) === 0
    ? Array.from({ length: randomInt(4) }, () => random(depth - 1))
    : Object.fromEntries(Array.from({ length: randomInt(5) }, () => [pick(FIELDS), random(depth - 1)]));
}
/** A text with one place changed, left out or doubled. */
function breakText(text: string): string {
  const at = randomInt(text.length);
  const other = pick(["", "A", ".", "=", "\u0000", text.slice(at, at + 8)]);
  return `${text.slice(0, at)}${other}${text.slice(at + randomInt(2))}`;
}
const makeTicket = async (face: (typeof FACES)[number], name = "eric"): Promise<string> => {
  const { body: ids } = await identity.send(`${face.resources}?name=${name}&exactName=true`, { bearer: server });
  const { status, body } = await identity.send(face.permission, { bearer: server, json: [{ resource_id: ids[0] }] });
  assert.ok(status === 200 || status === 201, JSON.stringify(body));
  return body.ticket;
};
const exchange = (face: (typeof FACES)[number], ticket: string, user = "eric", more: Record<string, string> = {}) =>
  identity.send(face.token, { bearer: users.get(user) ?? "", form: { grant_type: GRANT, ticket, ...more } });

for (const face of FACES) {
  test(`${face.permission}: hostile bodies are refused in words`, async () => {
    const deep = `${"[".repeat(50_000)}${"]".repeat(50_000)}`;
    const valid = JSON.stringify([{ resource_id: "of a name that no body here gives", resource_scopes: ["fly"] }]);
    const bodies = [
      deep,
      `{"a":${deep}}`,
      ...Array.from({ length: 60 }, () => JSON.stringify(random(randomInt(5)))),
      ...Array.from({ length: 60 }, () => breakText(valid)),
    ];
    for (const body of bodies) {
      for (const path of [face.permission, face.resources]) {
        const response = await fetch(`${identity.url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", authorization: `Bearer ${server}` },
          body,
        });
        const text = await response.text();
        assert.ok(response.status < 500, `${path} ${response.status} ${text.slice(0, 300)} for ${body.slice(0, 300)}`);
        // None of them names a resource that there is.
        assert.ok(path !== face.permission || !response.ok, `${response.status} ${text} for ${body.slice(0, 300)}`);
      }
    }
  });

  test(`${face.token}: a ticket is good as it is, once, and for whom it was given alone`, async () => {
    const whole = await makeTicket(face);
    for (let round = 0; round < 150; round += 1) {
      const broken = breakText(whole);
      if (broken === whole) {
        continue;
      }
      const { status, body } = await exchange(face, broken);
      assert.ok(status >= 400 && status < 500, `${status} ${JSON.stringify(body)} for ${broken}`);
      assert.equal(body.access_token, undefined);
    }
    const [payload = "", signature = ""] = whole.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    for (const change of [
      { permissions: [] },
      { audience: "hub" },
      { exp: 4e9 },
      { iss: "https://elsewhere.example" },
    ]) {
      const forged = Buffer.from(JSON.stringify({ ...claims, ...change })).toString("base64url");
      for (const ticket of [`${forged}.${signature}`, `${forged}.`, forged, `${forged}.${signature}.`]) {
        assert.equal((await exchange(face, ticket)).status, 400, JSON.stringify(change));
      }
    }
    assert.equal((await exchange(face, whole)).status, 200, "none of the broken ones used it up");
    assert.equal((await exchange(face, whole)).status, 400, "it is good once");
    const others = await Promise.all(Array.from({ length: 8 }, async (_, n) => [n, await makeTicket(face)] as const));
    assert.equal((await exchange(face, others[0]?.[1] ?? "", "bob")).status, 403);
    const [, raced = ""] = others[1] ?? [];
    const responses = await Promise.all(Array.from({ length: 8 }, () => exchange(face, raced)));
    assert.equal(responses.filter(({ status }) => status === 200).length, 1, "eight at once: one has it");
  });

  test(`${face.token}: fields of the grant at random`, async () => {
    const fields = [
      "audience",
      "permission",
      "permission_resource_format",
      "response_mode",
      "claim_token",
      "rpt",
      "scope",
    ];
    for (let round = 0; round < 120; round += 1) {
      const form = Object.fromEntries(
        Array.from({ length: randomInt(1, 5) }, () => [pick(fields), String(pick(LEAVES))] as const),
      );
      const { status, body } = await identity.send(face.token, {
        bearer: users.get("bob") ?? "",
        form: { grant_type: GRANT, audience: "dummy-service", ...form },
      });
      assert.ok(status < 500, `${status} ${JSON.stringify(body)} for ${JSON.stringify(form)}`);
      const granted = Array.isArray(body) ? body : [];
      assert.ok(
        granted.every(({ rsname }: { rsname: string }) => rsname === "bob"),
        JSON.stringify(body),
      );
    }
  });
}
