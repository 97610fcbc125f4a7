import assert from "node:assert/strict";
import { test } from "node:test";

import { waitUntil } from "@swath/testing";

import { openGatedStorage } from "./gated-storage.ts";
import { filePackage } from "./packages.ts";
import { startAdes } from "./start-ades.ts";

test("an object storage that takes connections and does not answer is waited for, as one that refuses them", async () => {
  let target = "";
  const gate = await openGatedStorage(() => target);
  const ades = await startAdes({ env: { S3_ENDPOINT: gate.url, STORAGE_SILENCE_SECONDS: "1" } });
  target = ades.objstoreUrl;
  try {
    const text = filePackage("copy", 'cp "$1" copy.txt');
    assert.equal((await ades.send("/eric/ogc-api/processes", { text, type: "application/cwl" })).status, 201);
    const arrived = gate.hold(() => true);
    const { headers } = await ades.send("/eric/ogc-api/processes/copy/execution", {
      json: { inputs: { file: { value: "hello", mediaType: "text/plain" } } },
      headers: { prefer: "respond-async" },
    });
    await arrived;
    const location = headers.get("location") ?? "";
    await waitUntil("the job says what it waits for", async () =>
      /does not answer; the job goes on when it is back/.test((await ades.send(location)).body.message as string),
    );
    gate.release();
    const job = await ades.ended(location);
    assert.equal(job.status, "successful", job.message);
  } finally {
    await ades.close();
    gate.close();
  }
});
