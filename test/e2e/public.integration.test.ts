// A public deployment as an operator makes it, on a machine of its own with a real DNS server, a certificate authority and visitors elsewhere.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { compiledCode, runCommand } from "@swath/testing";

import { pebbleSkipReason } from "../../cli/targets/embedded/tls/acme/test/pebble.ts";
import { createTestNetwork, findNetworkSkipReason } from "./public/network.ts";

const noKnot = existsSync("/usr/sbin/knotd") ? false : "needs Debian's package knot";
const skip = pebbleSkipReason() || noKnot || findNetworkSkipReason();

test("from a domain and an address to a page with a good certificate, and a login on it", { skip }, async (t) => {
  const network = createTestNetwork();
  t.after(() => network.close());
  const scenario = join(import.meta.dirname, "public/scenario.ts");
  const { status, stdout, stderr } = await runCommand(
    "ip",
    ["netns", "exec", network.internet, process.execPath, scenario, network.machine],
    { env: { ...process.env, ...compiledCode, NODE_TEST_CONTEXT: undefined } },
  );
  assert.equal(status, 0, stdout + stderr);
  t.diagnostic(stdout);
});
