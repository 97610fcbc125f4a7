import assert from "node:assert/strict";
import { test } from "node:test";

import { isUnavailable } from "./is-unavailable.ts";
import { toProblem } from "./problem.ts";

const failed = (properties: object, message = "failed") => Object.assign(new Error(message), properties);

test("a database that stops, starts or is not there is away", () => {
  for (const error of [
    failed({ code: "57P01" }),
    failed({ code: "08006" }),
    failed({ code: "ECONNREFUSED", syscall: "connect" }),
    failed({ code: "ENOENT", syscall: "connect" }),
    failed({}, "Connection terminated unexpectedly"),
    new TypeError("fetch failed", { cause: failed({ code: "UND_ERR_SOCKET" }) }),
    new TypeError("terminated", { cause: failed({ code: "UND_ERR_SOCKET" }) }),
  ]) {
    assert.equal(isUnavailable(error), true);
    const { status, headers } = toProblem(error);
    assert.deepEqual([status, headers["retry-after"]], [503, "1"]);
  }
});

test("a wrong statement, a missing file and anything else are not", () => {
  for (const error of [
    failed({ code: "23505" }),
    failed({ code: "08P01" }),
    failed({ code: "ENOENT", syscall: "open" }),
    failed({}),
    undefined,
  ]) {
    assert.equal(isUnavailable(error), false);
    assert.equal(toProblem(error).status, 500);
  }
});

test("a statement that waited too long for rows of others is refused for a while", () => {
  const error = failed({ code: "55P03" });
  assert.equal(isUnavailable(error), true, "background work tries again");
  const { status, headers, message } = toProblem(error);
  assert.deepEqual([status, headers["retry-after"]], [503, "10"]);
  assert.match(message, /holds what this one changes/);
});
