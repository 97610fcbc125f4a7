import assert from "node:assert/strict";
import { test } from "node:test";

import { parseLabels, parseToleration } from "./placement.ts";

test("labels and taints as operators write them", () => {
  assert.deepEqual(parseLabels("disk=ssd,example.org/zone=a,empty="), {
    disk: "ssd",
    "example.org/zone": "a",
    empty: "",
  });
  assert.deepEqual(parseToleration("dedicated=eo:NoSchedule"), {
    key: "dedicated",
    operator: "Equal",
    value: "eo",
    effect: "NoSchedule",
  });
  assert.deepEqual(parseToleration("node.kubernetes.io/out-of-service:NoExecute"), {
    key: "node.kubernetes.io/out-of-service",
    operator: "Exists",
    effect: "NoExecute",
  });
  assert.deepEqual(parseToleration("gpu"), { key: "gpu", operator: "Exists" });
});
