import assert from "node:assert/strict";
import { test } from "node:test";

import type { PodStatus } from "../targets/pod-status.ts";
import { isStuck } from "./watch-until-settled.ts";

test("a refused password ends the wait of apply, a peer that is away does not", () => {
  const pod = (message: string, ready = false): PodStatus => ({
    namespace: "rm",
    name: "bucket-operator-1",
    workload: "bucket-operator",
    component: "bucket-operator",
    phase: "Running",
    ready,
    restarts: 0,
    createdAt: "2024-01-01T00:00:00Z",
    message,
  });
  const refused =
    "the cloud's identity service answers 401 to POST /auth/tokens: no; check CLOUD_USERNAME, CLOUD_PASSWORD";
  assert.equal(isStuck(pod(refused)), true);
  assert.equal(isStuck(pod(refused, true)), false);
  assert.equal(isStuck(pod("logins do not work yet: http://id/x answered 404; check IDENTITY_ISSUER_URL")), true);
  assert.equal(isStuck(pod("the cloud's S3 cannot be reached: refused; check CLOUD_S3_URL")), false);
  assert.equal(isStuck(pod("logins do not work yet: http://id/x answered 404")), false);
});
