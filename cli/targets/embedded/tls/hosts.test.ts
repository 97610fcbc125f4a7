import assert from "node:assert/strict";
import { test } from "node:test";

import { coversHost, hostsToCover } from "./hosts.ts";

test("covers the domain, its first level, deeper hosts and wildcard routes", () => {
  const routes = [
    { host: "ades.d.test" },
    { host: "x.deep.d.test" },
    { host: "ws.d.test", wildcard: true },
    { host: "d.test" },
  ];
  assert.deepEqual(hostsToCover("d.test", routes, true), ["*.d.test", "*.ws.d.test", "d.test", "x.deep.d.test"]);
  assert.deepEqual(hostsToCover("d.test", routes, false), ["ades.d.test", "d.test", "ws.d.test", "x.deep.d.test"]);
});

test("a wildcard stands for one label", () => {
  assert.ok(coversHost(["*.d.test"], "a.d.test"));
  assert.ok(!coversHost(["*.d.test"], "a.b.d.test"));
  assert.ok(!coversHost(["*.d.test"], "d.test"));
});
