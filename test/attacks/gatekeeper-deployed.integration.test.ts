// The same from outside a deployment: through the ingress, past the gatekeeper, to the service.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createTestCluster, dummyServiceOnly, findFreePort } from "@swath/testing";

import { type TestProvider, createTestProvider } from "../../components/gatekeeper/test/test-provider.ts";

const port = await findFreePort();
const issuer = `http://127.0.0.1:${port}/realms/master`;
const provider: TestProvider = await createTestProvider(issuer);
const cluster = await createTestCluster({
  USE_TLS: "false",
  OPEN_INGRESS: "false",
  ...dummyServiceOnly,
  REQUIRE_DUMMY_SERVICE_PROTECTION: "true",
  IDENTITY_ISSUER_URL: issuer,
});
before(async () => {
  await new Promise<void>((resolve) => provider.server.listen(port, "127.0.0.1", resolve));
  const { status, stdout, stderr } = await cluster.apply();
  assert.equal(status, 0, `${stdout}${stderr}`);
});
after(async () => {
  await cluster.close();
  provider.server.closeAllConnections();
  provider.server.close();
});

const get = async (path: string, claims?: Record<string, unknown>, headers: Record<string, string> = {}) =>
  cluster.get("dummy-service", path, {
    ...(claims !== undefined && { authorization: `Bearer ${await provider.sign(claims)}` }),
    ...headers,
  });

test("no token 401, wrong user 403, right user 200 with the verified identity and none other", async () => {
  assert.equal((await get("/eric/x")).status, 401);
  assert.equal((await get("/eric/x", { preferred_username: "bob" })).status, 403);
  const forged = { "x-auth-username": "admin", x_auth_username: "admin", "x-auth-roles": "admin" };
  const right = await get("/eric/x", {}, forged);
  assert.equal(right.status, 200, right.body);
  const { headers } = JSON.parse(right.body) as { headers: Record<string, string> };
  assert.equal(headers["x-auth-username"], "eric");
  assert.equal(Object.values(headers).includes("admin"), false);
  assert.equal(headers["x-forwarded-proto"], "http");
});

test("tricks with paths do not get around it from outside either", async () => {
  for (const path of [
    "/eric/../bob/x",
    "/eric/%2e%2e/bob/x",
    "//bob/x",
    "/eric/..%2fbob/x",
    "/eric/..;/bob/x",
    "/BOB/x",
  ]) {
    assert.ok([400, 403].includes((await get(path, {})).status), path);
  }
});

test("no open host is published", async () => {
  assert.notEqual((await cluster.get("dummy-service-open", "/eric/x")).status, 200);
});
