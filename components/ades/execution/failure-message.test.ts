import assert from "node:assert/strict";
import { test } from "node:test";

import { withoutPlaces } from "./failure-message.ts";

test("messages name the package and files as their author knows them", () => {
  const folder = "/var/lib/swath/jobs/7f3a+1";
  for (const [message, plain] of [
    ["https://package.invalid/package.cwl:12:3: there is no x", "the package:12:3: there is no x"],
    [`no file *.tif in file://${folder}/run/step-1`, "no file *.tif in run/step-1"],
    [`${folder}/in/scene.json is missing, and ${folder}: full`, "in/scene.json is missing, and the job's folder: full"],
    ["nothing to hide", "nothing to hide"],
  ] as const) {
    assert.equal(withoutPlaces(message, folder), plain);
  }
});
