import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createLogger } from "@swath/service";
import { createApp } from "@swath/service/fastify";
import type { FastifyInstance } from "fastify";

import { addAdminRoutes } from "../admin/routes.ts";
import { MANAGEMENT_ROLES } from "../realms/create-realm.ts";
import { listAdminRoutes, readRightsTable } from "./rights-table.ts";
import { type TestIdentity, startIdentity } from "./start-identity.ts";

/** Walks every route of the admin API with every role, and compares who may with the table that people read. */
const REALM = "rights";
const NOBODY = "00000000-0000-4000-8000-000000000000";
const DELETE_REALM = "DELETE /admin/realms/:realm";

let identity: TestIdentity;
let app: FastifyInstance;
/** Access tokens, one for each role alone. */
const tokens = new Map<string, string>();

before(async () => {
  identity = await startIdentity();
  app = createApp(createLogger("rights", "silent"));
  addAdminRoutes(app, identity.context);
  await app.ready();
  await makeCallers();
});
after(async () => {
  await app?.close();
  await identity?.close();
});

/** A client that acts for itself for each role: ending sessions does not end it. */
async function makeCallers(): Promise<void> {
  const bearer = (await identity.logIn("admin")).access_token as string;
  const send = async (path: string, json?: unknown) => {
    const response = await identity.send(`/admin/realms${path}`, { bearer, ...(json !== undefined && { json }) });
    assert.ok(response.status < 300, `${path} ${response.status} ${response.text}`);
    return response.body;
  };
  await send("", { realm: REALM, enabled: true });
  const [{ id: management }] = await send(`/${REALM}/clients?clientId=realm-management`);
  const all = (await send(`/${REALM}/clients/${management}/roles`)) as { name: string }[];
  for (const role of ["none", "realm-admin", ...MANAGEMENT_ROLES]) {
    await send(`/${REALM}/clients`, {
      clientId: `caller-${role}`,
      secret: "secret",
      publicClient: false,
      serviceAccountsEnabled: true,
    });
    const [{ id }] = await send(`/${REALM}/clients?clientId=caller-${role}`);
    const { id: user } = await send(`/${REALM}/clients/${id}/service-account-user`);
    if (role !== "none") {
      await send(`/${REALM}/users/${user}/role-mappings/clients/${management}`, [
        all.find(({ name }) => name === role) ?? assert.fail(role),
      ]);
    }
    const { body } = await identity.send(`/realms/${REALM}/protocol/openid-connect/token`, {
      form: { grant_type: "client_credentials" },
      basic: [`caller-${role}`, "secret"],
    });
    tokens.set(role, body.access_token as string);
  }
  tokens.set("admin of master", bearer);
}

const call = async (route: string, token: string | undefined) => {
  const [method = "", path = ""] = route.split(" ");
  const response = await app.inject({
    method: method as "GET",
    url: path
      .replace(":realm", REALM)
      .replace(/:(?:id|[a-zA-Z]+)(?:\([^)]*\))?/g, NOBODY)
      .replace("*", NOBODY),
    headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(method !== "GET" && method !== "DELETE" && { payload: {} }),
  });
  return response.statusCode;
};

/** Shorter to read: `realm-admin` and the administrator of `master` may what any other may. */
const describe = (may: readonly string[]): string =>
  may.includes("none")
    ? "any login"
    : may.length === 1 && may[0] === "admin of master"
      ? "admin of master"
      : may.filter((role) => role !== "realm-admin" && role !== "admin of master").join(", ") || "realm-admin";

test("every role may at every route of the admin API what the table says", async () => {
  const found = new Map<string, string>();
  // What removes the realm comes last.
  const ordered = (await listAdminRoutes()).toSorted((a, b) => Number(a === DELETE_REALM) - Number(b === DELETE_REALM));
  for (const route of ordered) {
    assert.equal(await call(route, undefined), 401, `without a token: ${route}`);
    const callers = [...tokens];
    // Who may remove the realm is asked last.
    const statuses =
      route === DELETE_REALM
        ? await callers.reduce<Promise<number[]>>(
            async (before, [, token]) => [...(await before), await call(route, token)],
            Promise.resolve([]),
          )
        : await Promise.all(callers.map(([, token]) => call(route, token)));
    const may = callers.flatMap(([role], index) => {
      const status = statuses[index] ?? 500;
      assert.ok(status < 500, `${role}: ${route} answers ${status}`);
      // Routes of no realm hear those of `master` alone: 401 for others.
      return status === 401 || status === 403 ? [] : [role];
    });
    if (!may.includes("none")) {
      assert.ok(may.includes("admin of master"), route);
      assert.ok(may.length === 1 || may.includes("realm-admin"), `realm-admin may not: ${route}`);
    }
    found.set(route, describe(may));
  }
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(readRightsTable()));
});
