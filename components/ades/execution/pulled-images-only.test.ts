import assert from "node:assert/strict";
import { test } from "node:test";

import { createProcessExecutor } from "@swath/cwl";

import { pulledImagesOnly } from "./pulled-images-only.ts";

const container = {
  image: "some-image",
  required: true,
  pull: undefined,
  load: undefined,
  import: undefined,
  dockerfile: undefined,
  shmSize: undefined,
  gpus: 0,
};

test("images that are built, loaded or imported are refused in words, others are the executor's to judge", async () => {
  const executor = pulledImagesOnly({ ...createProcessExecutor(), noImageReason: async () => undefined });
  const why = (request: object) =>
    executor.noImageReason?.({ ...container, ...request }, new AbortController().signal) ?? Promise.resolve("nothing");
  for (const request of [{ dockerfile: "FROM x" }, { load: "/a.tar" }, { import: "/a.tar" }]) {
    assert.match((await why(request)) ?? "", /not built or loaded here; push the image to a registry/);
  }
  assert.equal(await why({ pull: "debian" }), undefined);
});
