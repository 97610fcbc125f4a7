import assert from "node:assert/strict";
import { test } from "node:test";

import { type PortResponse, choosePorts } from "./choose-ports.ts";

const desired = { http: 80, https: 443 };
const addresses = ["127.0.0.1", "::1"];
const answering = (responses: Record<number, PortResponse>) => async (_address: string, port: number) =>
  responses[port] ?? "free";

test("wanted ports that are free are taken", async () => {
  assert.deepEqual(await choosePorts({ desired, isProvided: false, addresses, tryPort: answering({}) }), desired);
});

test("ports the user may not bind fall back to 8080 and 8443, given or not, and it says so", async () => {
  for (const isProvided of [false, true]) {
    const tryPort = answering({ 80: "forbidden", 443: "forbidden" });
    const chosen = await choosePorts({ desired, isProvided, addresses, tryPort });
    assert.deepEqual([chosen.http, chosen.https], [8080, 8443]);
    assert.match(chosen.reason ?? "", /port 80 may not be used by this user/);
  }
});

test("a second cluster gets the next pair", async () => {
  const tryPort = answering({ 80: "taken", 8080: "taken" });
  const { http, https } = await choosePorts({ desired, isProvided: false, addresses, tryPort });
  assert.deepEqual([http, https], [8180, 8543]);
});

test("a port the operator asked for and somebody has is an error that says what to do", async () => {
  const choosing = choosePorts({ desired, isProvided: true, addresses, tryPort: answering({ 443: "taken" }) });
  await assert.rejects(choosing, /port 443 is taken on 127\.0\.0\.1.*LOCALCLUSTER_EXTRA_OPTIONS=--ports/);
});
