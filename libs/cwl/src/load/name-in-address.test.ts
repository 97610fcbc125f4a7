import assert from "node:assert/strict";
import { test } from "node:test";

import { nameInAddress } from "./name-in-address.ts";

test("names of remote files, those with a percent sign too", () => {
  assert.equal(nameInAddress("/a/two%20words.tif"), "two words.tif");
  assert.equal(nameInAddress("/a/100%.tif"), "100%.tif");
  assert.equal(nameInAddress("/a/"), "");
});
