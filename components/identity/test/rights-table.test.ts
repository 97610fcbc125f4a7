import assert from "node:assert/strict";
import { test } from "node:test";

import { listAdminRoutes, listOtherRoutes, readAnswersTable, readRightsTable } from "./rights-table.ts";

test("every route of the admin API is in the table of rights, and no other", async () => {
  assert.deepEqual([...readRightsTable().keys()].toSorted(), [...(await listAdminRoutes())].toSorted());
});

test("every other route of the service is in the table of rights, and no other", async () => {
  assert.deepEqual([...readAnswersTable().keys()].toSorted(), [...(await listOtherRoutes())].toSorted());
});
