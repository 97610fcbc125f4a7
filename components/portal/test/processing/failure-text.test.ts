import assert from "node:assert/strict";
import { test } from "node:test";

import { toCopiedRequests } from "../../web/processing/model/copy-job.ts";
import { splitFailure, summarizeFailure } from "../../web/processing/model/failure-text.ts";

test("a failure is told whole: what happened, and the end of the output", () => {
  const message = "crop: exit code 3; its last words:\nreading\nno bands in the image\n";
  assert.deepEqual(splitFailure(message), { headline: "crop: exit code 3", output: "reading\nno bands in the image" });
  assert.equal(summarizeFailure(message), "crop: exit code 3: no bands in the image");
  assert.equal(summarizeFailure("The job is done."), "The job is done.");
});

test("an execution is copied with the public address, quotes and all", () => {
  const [curl, python] = toCopiedRequests({
    service: "https://ades.example.org/ogc-api/processes",
    username: "eric",
    process: "ndvi",
    inputs: { text: "it's '''quoted'''" },
  });
  assert.match(curl?.text ?? "", /'https:\/\/ades\.example\.org\/eric\/ogc-api\/processes\/ndvi\/execution'/);
  assert.ok(curl?.text.includes("it's"));
  assert.ok(python?.text.includes(String.raw`\u0027\u0027\u0027quoted`), python?.text);
});
