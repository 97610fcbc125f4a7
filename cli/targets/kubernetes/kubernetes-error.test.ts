import assert from "node:assert/strict";
import { test } from "node:test";

import { describeApiError } from "./kubernetes-error.ts";

test("what the API server says, in its own words where there are some", () => {
  const refused = Object.assign(new Error("HTTP-Code: 403"), { body: '{"message":"pods is forbidden"}' });
  assert.equal(describeApiError(refused), "pods is forbidden");
  assert.equal(describeApiError(new Error("connect", { cause: new Error("refused") })), "connect: refused");
  class ErrorEvent extends Event {
    get message() {
      return "Unexpected server response: 502";
    }
  }
  assert.equal(describeApiError(new ErrorEvent("error")), "Unexpected server response: 502");
  assert.equal(describeApiError("gone"), "gone");
});
