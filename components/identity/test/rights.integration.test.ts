import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { openConsole } from "./console-browser.ts";
import { listOtherRoutes, readAnswersTable } from "./rights-table.ts";
import { SECRET, type TestIdentity, startIdentity } from "./start-identity.ts";

/** Asks every address beside the admin API, with nothing in the request, as every kind of caller, and compares with the table that people read. */
const NOBODY = "00000000-0000-4000-8000-000000000000";

let identity: TestIdentity;
/** In the order of the table's columns. */
let callers: readonly Readonly<Record<string, string>>[];

before(async () => {
  identity = await startIdentity({ login: true, registration: "open" });
  const bearer = async (username: string) => {
    const { access_token: token } = await identity.logIn(username);
    return { authorization: `Bearer ${token}` };
  };
  const browser = async (username: string) => {
    const { cookies } = await openConsole(identity.url, username);
    return { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") };
  };
  const credentials = ["dummy-service", SECRET].map(encodeURIComponent).join(":");
  callers = [
    {},
    await bearer("bob"),
    { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` },
    await bearer("admin"),
    await browser("bob"),
    await browser("admin"),
  ];
});
after(() => identity?.close());

async function call(route: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const [method = "", path = ""] = route.split(" ");
  const filled = path
    .replace(":realm", "master")
    .replace(":clientId", "dummy-service")
    .replace(/:[a-zA-Z]+/g, NOBODY)
    .replace("*", NOBODY);
  // The decision point looks at the body before it looks at the caller.
  const json = path.startsWith("/pdp") && method !== "GET" && method !== "DELETE";
  const response = await fetch(`${identity.url}${filled}`, {
    method,
    headers: { ...headers, ...(json && { "content-type": "application/json" }) },
    redirect: "manual",
    ...(json && { body: "{}" }),
  });
  // One of them is a stream without an end.
  await response.body?.cancel();
  return response.status;
}

test("every address answers each kind of caller as the table says, and the table has every address", async () => {
  const found = new Map<string, readonly number[]>();
  for (const route of await listOtherRoutes()) {
    const statuses: number[] = [];
    for (const headers of callers) {
      statuses.push(await call(route, headers));
    }
    assert.ok(
      statuses.every((status) => status < 500),
      `${route}: ${statuses.join(" ")}`,
    );
    found.set(route, statuses);
  }
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(readAnswersTable()));
});
