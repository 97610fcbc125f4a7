import assert from "node:assert/strict";
import { test } from "node:test";

import { seenRoot } from "./tool-path.ts";

test("tools of a clone below temporary files are shown elsewhere, since a tool has its own there", () => {
  assert.equal(seenRoot("/tmp/swath"), "/run/swath/platform");
  assert.equal(seenRoot("/var/tmp/a b/swath"), "/run/swath/platform");
  assert.equal(seenRoot("/srv/swath"), "/srv/swath");
  assert.equal(seenRoot("/tmpfs/swath"), "/tmpfs/swath");
});
