import assert from "node:assert/strict";
import { test } from "node:test";

import { createContents, createNamespace, isAsWanted } from "./namespace-objects.ts";

const wish = {
  workspace: { name: "ws-eric", quotaMb: null },
  deployment: "swath",
  limits: { cpu: "4", memory: "8Gi", pods: 20, storage: "20Gi" },
  defaultQuotaMb: 100,
  bucket: { bucketname: "ws-eric", access: "AK", secret: "s€cret", endpoint: "https://objstore.x", region: "r" },
};

test("a namespace holds quota, limits, settings, credentials and a network of its own", () => {
  const objects = createContents(wish);
  assert.deepEqual(
    objects.map(({ path }) => path),
    [
      "/api/v1/namespaces/ws-eric/resourcequotas/workspace",
      "/api/v1/namespaces/ws-eric/limitranges/workspace",
      "/api/v1/namespaces/ws-eric/configmaps/workspace",
      "/api/v1/namespaces/ws-eric/secrets/bucket",
      "/apis/networking.k8s.io/v1/namespaces/ws-eric/networkpolicies/workspace",
    ],
  );
  const secret = objects[3]?.object as { data: Record<string, string> };
  const data = Object.entries(secret.data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]);
  assert.deepEqual(Object.fromEntries(data), {
    bucketname: "ws-eric",
    access: "AK",
    secret: "s€cret",
    projectid: "",
    endpoint: "https://objstore.x",
    region: "r",
  });
  assert.equal(createContents({ ...wish, bucket: undefined as never }).length, 4);
});

test("what the API server adds is no difference, what is missing or other is", () => {
  const { object } = createNamespace(wish);
  const kept = { ...object, metadata: { ...(object["metadata"] as object), uid: "u" }, status: { phase: "Active" } };
  assert.ok(isAsWanted(kept, object));
  assert.ok(!isAsWanted({ ...object, kind: "Other" }, object));
  assert.ok(!isAsWanted(undefined, object));
  assert.ok(!isAsWanted({ list: [1, 2] }, { list: [1] }));
});
