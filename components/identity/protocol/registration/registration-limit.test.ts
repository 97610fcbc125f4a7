import assert from "node:assert/strict";
import { test } from "node:test";

import { OAuthError } from "../oauth-error.ts";
import { createRegistrationLimit } from "./registration-limit.ts";

test("one address registers 20 clients in an hour, others are not held up", () => {
  let now = 0;
  const limit = createRegistrationLimit(() => now);
  for (let count = 0; count < 20; count++) {
    limit("192.0.2.1");
  }
  assert.throws(
    () => limit("192.0.2.1"),
    (error) => error instanceof OAuthError && error.status === 429,
  );
  limit("192.0.2.2");
  now = 3_600_001;
  limit("192.0.2.1");
});
