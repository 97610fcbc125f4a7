import assert from "node:assert/strict";
import { test } from "node:test";

import { listAdminRoutes, readRightsTable } from "./rights-table.ts";

test("every route of the admin API is in the table of rights, and no other", async () => {
  assert.deepEqual([...readRightsTable().keys()].toSorted(), [...(await listAdminRoutes())].toSorted());
});
