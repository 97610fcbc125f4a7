import assert from "node:assert/strict";
import { test } from "node:test";

import type { PodTemplate } from "@swath/kubernetes";

import { differInImageOnly } from "./replace-image.ts";

const template = (image: string, more: object = {}, labels: Record<string, string> = { version: "1" }): PodTemplate =>
  ({
    metadata: { labels, annotations: { hash: image } },
    spec: { containers: [{ name: "main", image, env: [{ name: "A", value: "1" }], ...more }], volumes: [] },
  }) as unknown as PodTemplate;

test("an image, values of labels and annotations are changed in place; whatever else differs needs a new pod", () => {
  assert.equal(differInImageOnly(template("a"), template("b")), true);
  assert.equal(differInImageOnly(template("a"), template("b", {}, { version: "2" })), true);
  assert.equal(differInImageOnly(template("a"), template("b", { env: [{ name: "A", value: "2" }] })), false);
  assert.equal(differInImageOnly(template("a"), template("b", { resources: { limits: { memory: "1Gi" } } })), false);
  assert.equal(differInImageOnly(template("a"), template("b", {}, { version: "1", team: "x" })), false);
  assert.equal(differInImageOnly(template("a"), template("b", {}, {})), false);
});
