import assert from "node:assert/strict";
import { test } from "node:test";

import { keys } from "../render/labels.ts";
import { keepImages } from "./keep-images.ts";

const controller = (image: string, version?: string, name = "postgres") => ({
  apiVersion: "apps/v1",
  kind: "StatefulSet",
  metadata: { name, namespace: "storage" },
  spec: {
    replicas: 1,
    template: {
      metadata: { labels: {}, annotations: version === undefined ? {} : { [keys.keepImageOf]: version } },
      spec: { containers: [{ name, image, command: ["a"] }], terminationGracePeriodSeconds: 60 },
    },
  },
});

test("a program of the same version keeps its image, and nothing else is changed", () => {
  const kept = keepImages([controller("swath:2", "18.4+1")], [controller("swath:1", "18.4+1")]);
  assert.deepEqual(kept, [controller("swath:1", "18.4+1")]);
});

test("another version, another workload, no version, and the first start take what is asked for", () => {
  const desired = controller("swath:2", "18.5+1");
  assert.deepEqual(keepImages([desired], [controller("swath:1", "18.4+1")]), [desired]);
  assert.deepEqual(keepImages([desired], [controller("swath:1", "18.5+1", "other")]), [desired]);
  assert.deepEqual(keepImages([desired], [controller("swath:1")]), [desired]);
  assert.deepEqual(keepImages([desired], []), [desired]);
  const plain = controller("swath:2");
  assert.deepEqual(keepImages([plain], [controller("swath:1")]), [plain]);
});
