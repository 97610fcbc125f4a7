import assert from "node:assert/strict";
import { test } from "node:test";

import { resolveConfig } from "../config/resolve.ts";
import { components } from "../platform/components.ts";
import { createPlan } from "../platform/plan.ts";
import { loginHint } from "./procedure.ts";

test("the end of the quick procedure names a user that exists, or how it is made", () => {
  const hintFor = (env: Record<string, string>) => {
    const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };
    return loginHint(createPlan(resolveConfig({ env, args: {}, facts }).config, components));
  };
  assert.match(hintFor({}), /^\(log in as eric; bin\/swath credentials\)$/);
  for (const env of [{ PLATFORM_VARIANT: "B" }, { IDENTITY_SERVICE_TEST_USERS: "false" }]) {
    assert.match(hintFor(env), /deploy\/bin\/create-user -U eric makes that user/);
  }
});
