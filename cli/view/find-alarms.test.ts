import assert from "node:assert/strict";
import { test } from "node:test";

import { findAlarms } from "./find-alarms.ts";

test("tells of requests that ended by an error that nothing caught", () => {
  assert.match(
    findAlarms("objstore-1", "# TYPE request_faults_total counter\nrequest_faults_total 2\n").join(),
    /^objstore-1: 2 requests were/,
  );
  assert.deepEqual(findAlarms("objstore-1", "request_faults_total 0\n"), []);
  assert.deepEqual(findAlarms("objstore-1", "other_total 5\n"), []);
});
