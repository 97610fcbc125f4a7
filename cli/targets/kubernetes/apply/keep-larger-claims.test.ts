import assert from "node:assert/strict";
import { test } from "node:test";

import { keepLargerClaims } from "./keep-larger-claims.ts";

const claim = (name: string, storage: string, more: object = {}) => ({
  apiVersion: "v1",
  kind: "PersistentVolumeClaim",
  metadata: { name, namespace: "rm" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...more },
});

test("a larger live volume keeps its size, a smaller one grows, others are as rendered", () => {
  const rendered = [claim("a", "20Gi"), claim("b", "20Gi"), claim("c", "20Gi"), claim("d", "1Ti")];
  const live = [
    claim("a", "21474836481", { volumeName: "pv-1" }),
    claim("b", "20480Mi"),
    claim("d", "900Gi"),
    { ...claim("c", "50Gi"), metadata: { name: "c", namespace: "elsewhere" } },
  ];
  assert.deepEqual(keepLargerClaims(rendered, live), [
    claim("a", "21474836481"),
    claim("b", "20Gi"),
    claim("c", "20Gi"),
    claim("d", "1Ti"),
  ]);
});
