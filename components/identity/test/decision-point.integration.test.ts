import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { after, before, test } from "node:test";

import { type TestIdentity, startIdentity } from "./start-identity.ts";

const POLICY = "/pdp/policy/";
const RESOURCE = "20248583";

let identity: TestIdentity;
const tokens = new Map<string, string>();
before(async () => {
  identity = await startIdentity({ login: true });
  for (const name of ["admin", "eric", "bob"]) {
    tokens.set(name, (await identity.logIn(name)).access_token);
  }
});
after(() => identity.close());

const as = (who: string) => ({ bearer: tokens.get(who) ?? "" });
const policy = (rules: object, more: object = {}) => ({
  name: "NewPolicy",
  description: "A policy",
  config: { resource_id: RESOURCE, action: "view", rules: [rules], ...more },
  scopes: [],
});
const question = (user: string, action = "view", resource = RESOURCE, more: readonly object[] = []) => ({
  Request: {
    AccessSubject: [{ Attribute: [{ AttributeId: "user_name", Value: user, DataType: "string" }, ...more] }],
    Action: [{ Attribute: [{ AttributeId: "urn:oasis:names:tc:xacml:1.0:action:action-id", Value: action }] }],
    Resource: [{ Attribute: [{ AttributeId: "resource-id", Value: resource }] }],
  },
});
const validate = (body: unknown, who = "admin") => identity.send(`${POLICY}validate`, { json: body, ...as(who) });

test("decisions: permit and deny in the form of the JSON profile of XACML 3.0", async () => {
  const made = await identity.send(POLICY, { json: policy({ EQUAL: { user_name: "eric" } }), ...as("admin") });
  assert.equal(made.status, 200, made.text);
  const permitted = await validate(question("eric"));
  assert.equal(permitted.status, 200);
  assert.deepEqual(permitted.body, {
    Response: [{ Decision: "Permit", Status: { StatusCode: { Value: "urn:oasis:names:tc:xacml:1.0:status:ok" } } }],
  });
  const denied = await validate(question("bob"));
  assert.equal(denied.status, 401);
  assert.equal(denied.body.Response[0].Decision, "Deny");
  const [obligation] = denied.body.Response[0].Obligations;
  assert.equal(obligation.Id, "fail_to_permit");
  assert.equal(obligation.AttributeAssignment[0].Value, "You cannot access this resource");
  assert.equal((await validate(question("eric", "edit"))).status, 401, "another action");
  assert.equal((await validate(question("eric", "view", "unknown"))).status, 401, "another resource");
  assert.equal((await validate(question("nobody-at-all"))).status, 401);
  assert.equal((await identity.send(`${POLICY}validate`, { json: question("eric") })).status, 401, "without a token");
  assert.equal((await identity.send(`${POLICY}${made.body.id}`, { method: "DELETE", ...as("admin") })).status, 204);
  assert.equal((await validate(question("eric"))).status, 401, "without its policy");
});

test("what the caller says of the subject counts, but not against what the platform knows", async () => {
  const more = [{ AttributeId: "num_acces", Value: 6 }];
  const made = await identity.send(POLICY, {
    json: policy({ AND: [{ LESS: { num_acces: 9 } }, { EQUAL: { isOperator: true } }] }),
    ...as("admin"),
  });
  assert.equal((await validate(question("admin", "view", RESOURCE, more))).status, 200);
  const forged = [...more, { AttributeId: "isOperator", Value: true }, { AttributeId: "user_name", Value: "admin" }];
  assert.equal((await validate(question("eric", "view", RESOURCE, [...more, forged[1] as object]))).status, 401);
  await identity.send(`${POLICY}${made.body.id}`, { method: "DELETE", ...as("admin") });
});

test("policies are listed, changed and removed by those whose they are", async () => {
  const own = policy({ EQUAL: { user_name: "bob" } }, { resource_id: "erics" });
  const { body } = await identity.send(POLICY, { json: own, ...as("eric") });
  const path = `${POLICY}${body.id}`;
  assert.equal((await identity.send(POLICY, { json: own, ...as("bob") })).status, 401, "a resource of eric's");
  const refused = await identity.send(path, { ...as("bob") });
  assert.equal(refused.status, 401);
  assert.ok(refused.headers.get("error"));
  assert.equal((await identity.send(path, { method: "DELETE", ...as("bob") })).status, 401);
  const changed = await identity.send(path, {
    method: "PUT",
    json: { config: { rules: [{ EQUAL: { user_name: "eric" } }] } },
    ...as("eric"),
  });
  assert.equal(changed.body.config.resource_id, "erics", "what is not given stays");
  assert.equal((await validate(question("eric", "view", "erics"))).status, 200);
  assert.equal((await validate(question("bob", "view", "erics"))).status, 401);
  const listed = await identity.send(`${POLICY}?resource_id=erics`, as("eric"));
  assert.deepEqual(
    listed.body.policies.map(({ id }: { id: string }) => id),
    [body.id],
  );
  assert.equal((await identity.send(POLICY, as("bob"))).body.policies.length, 0);
  assert.equal((await identity.send(path, { method: "DELETE", ...as("eric") })).status, 204);
  assert.equal((await identity.send(path, as("eric"))).status, 404);
});

test("a policy that asks for terms lets in who has accepted them, until they are withdrawn", async () => {
  const term = { term_id: "fair-use", description: "Be fair" };
  assert.equal((await identity.send("/pdp/terms/", { json: term, ...as("eric") })).status, 401);
  assert.equal((await identity.send("/pdp/terms/", { json: term, ...as("admin") })).status, 200);
  const { body } = await identity.send(POLICY, {
    json: policy({ EQUAL: { user_name: "eric" } }, { resource_id: "termed", "T&C": ["fair-use"] }),
    ...as("admin"),
  });
  const decide = async () => (await validate(question("eric", "view", "termed"))).status;
  assert.equal(await decide(), 401);
  const acceptance = "/pdp/acceptance_validation/fair-use";
  assert.equal((await identity.send(acceptance, { method: "PUT", ...as("eric") })).status, 204);
  assert.equal(await decide(), 200);
  const listed = await identity.send("/pdp/acceptance_validation/", as("eric"));
  assert.equal(listed.body.terms[0].accepted, true);
  assert.equal((await identity.send(acceptance, { method: "DELETE", ...as("eric") })).status, 204);
  assert.equal(await decide(), 401);
  await identity.send(`${POLICY}${body.id}`, { method: "DELETE", ...as("admin") });
});

test("policies of a registered resource decide at the gatekeeper too, which hears of changes at once", async () => {
  const resources = "/admin/realms/master/clients";
  const [client] = (await identity.send(`${resources}?clientId=dummy-service`, as("admin"))).body;
  const server = `${resources}/${client.id}/authz/resource-server`;
  const [eric] = (await identity.send(`${server}/resource?name=eric&exactName=true`, as("admin"))).body;
  const set = async () =>
    identity.send("/internal/realms/master/clients/dummy-service/policy-set", {
      basic: ["dummy-service", "a:secret%with signs"],
    });
  const before = await set();
  const { body } = await identity.send(POLICY, {
    json: policy({ EQUAL: { user_name: "bob" } }, { resource_id: eric._id, action: "" }),
    ...as("admin"),
  });
  const after = await set();
  assert.notEqual(after.headers.get("etag"), before.headers.get("etag"));
  assert.ok(after.body.policies.some(({ type }: { type: string }) => type === "rules"));
  assert.equal(
    (
      await identity.send(POLICY, {
        json: policy({ EQUAL: { user_name: "bob" } }, { resource_id: eric._id }),
        ...as("bob"),
      })
    ).status,
    401,
  );
  await identity.send(`${POLICY}${body.id}`, { method: "DELETE", ...as("admin") });
  assert.deepEqual((await set()).body.policies, before.body.policies);
});

test("another decision point has to permit too, whatever becomes of it, and two that ask each other come to an end", async () => {
  const seen: string[] = [];
  let reply: (body: string) => readonly [status: number, body: string] = () => [200, "{}"];
  const other = createServer((request, response) => {
    void readText(request).then((body) => {
      seen.push(String(request.headers["x-pdp-hops"]));
      const [status, text] = reply(body);
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    });
  });
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  const { port } = other.address() as { port: number };
  const delegated = policy(
    { EQUAL: { user_name: "eric" } },
    { resource_id: "far", delegate: `http://127.0.0.1:${port}/` },
  );
  assert.equal((await identity.send(POLICY, { json: delegated, ...as("eric") })).status, 401, "for operators alone");
  const { body } = await identity.send(POLICY, { json: delegated, ...as("admin") });
  assert.equal(body.config.delegate, `http://127.0.0.1:${port}/`);
  const decide = async (who = "eric") => (await validate(question(who, "view", "far"))).status;
  const permit = JSON.stringify({ Response: [{ Decision: "Permit" }] });
  for (const [status, text, expected] of [
    [200, permit, 200],
    [401, JSON.stringify({ Response: [{ Decision: "Deny" }] }), 401],
    [401, permit, 401],
    [200, "{}", 401],
    [200, "no json", 401],
    [500, permit, 401],
    [200, JSON.stringify({ Response: [{ Decision: "Permit" }, { Decision: "Deny" }] }), 401],
    [200, " ".repeat(100_000) + permit, 401],
  ] as const) {
    reply = () => [status, text];
    assert.equal(await decide(), expected, `${status} ${text.slice(0, 60)}`);
  }
  reply = (response) => [200, response.includes('"eric"') ? permit : "{}"];
  assert.equal(await decide("bob"), 401, "its own rules have to hold as well");
  assert.ok(seen.every((hops) => hops === "1"));
  const far = await fetch(`${identity.url}${POLICY}validate`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-pdp-hops": "3", authorization: `Bearer ${tokens.get("admin")}` },
    body: JSON.stringify(question("eric", "view", "far")),
  });
  assert.equal(far.status, 401, "passed on often enough");
  const metadata = policy(
    { EQUAL: { user_name: "eric" } },
    { resource_id: "meta", delegate: "http://169.254.169.254/" },
  );
  const { body: made } = await identity.send(POLICY, { json: metadata, ...as("admin") });
  assert.equal(
    (await validate(question("eric", "view", "meta"))).status,
    401,
    "no address of the machine's own network",
  );
  assert.ok(identity.logged.some((line) => line.includes("169.254.169.254") && line.includes("not public")));
  for (const { id } of [body, made]) {
    await identity.send(`${POLICY}${id}`, { method: "DELETE", ...as("admin") });
  }
  other.closeAllConnections();
  await new Promise((resolve) => other.close(resolve));
});

test("hostile questions and policies are refused, none of them by a failure of the service", async () => {
  const deep = (levels: number): object => (levels === 0 ? { EQUAL: { a: 1 } } : { NOT: [deep(levels - 1)] });
  const bodies: unknown[] = [
    {},
    [],
    { Request: null },
    { Request: { AccessSubject: "x", Action: 1, Resource: [] } },
    { Request: { AccessSubject: [{}], Action: [{ Attribute: [{}] }], Resource: [{ Attribute: "x" }] } },
    question("eric", ""),
    question("x".repeat(5000)),
    question("a\u0000b"),
    question("eric", "view", "a\u0000b"),
    { Request: { ...question("eric").Request, Resource: [{}, {}] } },
    question(
      "eric",
      "view",
      RESOURCE,
      Array.from({ length: 200 }, (_, n) => ({ AttributeId: `a${n}`, Value: n })),
    ),
  ];
  for (const body of bodies) {
    const { status, text } = await validate(body);
    assert.ok(status === 400 || status === 401, `${status} ${text}`);
  }
  for (const config of [
    policy(deep(30)),
    policy({ OR: Array.from({ length: 1000 }, () => ({ EQUAL: { a: 1 } })) }),
    policy({ MAGIC: [] }),
    policy({ EQUAL: { a: 1 } }, { delegate: "file:///etc/passwd" }),
    policy({ EQUAL: { a: 1 } }, { delegate: "http://user:secret@example.org/" }),
    policy({ EQUAL: { a: 1 } }, { resource_id: "" }),
    policy({ EQUAL: { a: 1 } }, { "T&C": "x" }),
    "x",
  ]) {
    assert.equal((await identity.send(POLICY, { json: config, ...as("admin") })).status, 400);
  }
  // Valid requests, broken at random places.
  const valid = JSON.stringify(question("eric"));
  for (let round = 0; round < 200; round += 1) {
    const at = randomInt(valid.length);
    const broken = `${valid.slice(0, at)}${String.fromCharCode(randomInt(32, 126))}${valid.slice(at + randomInt(3))}`;
    const response = await fetch(`${identity.url}${POLICY}validate`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${tokens.get("admin")}` },
      body: broken,
    });
    assert.ok(response.status < 500, `${response.status} ${broken}`);
    await response.body?.cancel();
  }
});

test("fuzz: rules that hold themselves by name, odd operators and deep nesting never let anybody in and never fail", async () => {
  const operators = ["AND", "OR", "XOR", "NOT", "EQUAL", "LESS", "__proto__", "constructor", "MAGIC", ""];
  const values: readonly unknown[] = [null, [], {}, "eric", 1, true, [[[]]], { $ref: "#" }, { AND: "$self" }];
  const random = (depth: number): unknown => {
    const operator = operators[randomInt(operators.length)] ?? "";
    const inner =
      depth === 0 ? values[randomInt(values.length)] : Array.from({ length: randomInt(3) }, () => random(depth - 1));
    return { [operator]: inner };
  };
  for (let round = 0; round < 150; round += 1) {
    const resource = `fuzz-${round}`;
    const rules = [random(randomInt(25))];
    const { status, body, text } = await identity.send(POLICY, {
      json: { name: resource, config: { resource_id: resource, action: "view", rules }, scopes: [] },
      ...as("admin"),
    });
    assert.ok(status === 200 || status === 400, `${status} ${text} ${JSON.stringify(rules)}`);
    if (status === 200) {
      assert.equal((await validate(question("eric", "view", resource))).status, 401, JSON.stringify(rules));
      await identity.send(`${POLICY}${body.id}`, { method: "DELETE", ...as("admin") });
    }
  }
});

test("the page and the document of the interface are there", async () => {
  assert.equal((await identity.send("/swagger-ui")).status, 200);
  const { body } = await identity.send("/pdp/openapi.json");
  assert.ok(body.paths["/pdp/policy/validate"].get);
});

test("an open decision point decides for callers that it does not know, and tells and changes nothing else", async () => {
  const openOne = await startIdentity({ login: true, decisions: "open" });
  try {
    const { access_token: bearer } = await openOne.logIn("admin");
    const ask = (user: string) => openOne.send(`${POLICY}validate`, { json: question(user) });
    assert.equal((await openOne.send(POLICY, { json: policy({ EQUAL: { user_name: "eric" } }), bearer })).status, 200);
    assert.deepEqual([(await ask("eric")).status, (await ask("bob")).status], [200, 401]);
    assert.equal((await ask("bob")).body.Response[0].Decision, "Deny");
    // Who shows something must show something right.
    assert.equal((await openOne.send(`${POLICY}validate`, { json: question("eric"), bearer: "x" })).status, 401);
    assert.equal((await openOne.send(POLICY)).status, 401);
    assert.equal((await openOne.send(POLICY, { json: policy({ EQUAL: { user_name: "bob" } }) })).status, 401);
  } finally {
    await openOne.close();
  }
});

test("a login service without the decision point answers nothing below /pdp", async () => {
  const without = await startIdentity({ login: true, decisionPoint: false });
  try {
    const { access_token: bearer } = await without.logIn("admin");
    assert.equal((await without.send(POLICY, { bearer })).status, 404);
    assert.equal((await without.send(`${POLICY}validate`, { json: question("eric"), bearer })).status, 404);
    assert.equal((await without.send("/.well-known/openid-configuration")).status, 200);
  } finally {
    await without.close();
  }
});
