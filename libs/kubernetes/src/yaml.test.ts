import assert from "node:assert/strict";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { sortForApply, toYaml } from "./yaml.ts";

const map = (name: string, data: Record<string, string>) => ({
  kind: "ConfigMap",
  apiVersion: "v1",
  data,
  metadata: { namespace: "um", name },
});

test("keys have one order, texts that an older reader would take for something else are quoted", () => {
  assert.equal(
    toYaml([map("m", { z: "yes", b: "1:20", a: "on", port: "0123", e: "1e3", none: "null" })]),
    `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: m
  namespace: um
data:
  a: "on"
  b: "1:20"
  e: "1e3"
  none: "null"
  port: "0123"
  z: "yes"
`,
  );
});

test("long and many-lined texts come back as they were", () => {
  const data = { long: "word ".repeat(60), lines: "a\n  b\n\nc\n", odd: "# : - {}\t'\"", documents: "---\nx\n...\n" };
  const [document] = parseAllDocuments(toYaml([map("m", data)]));
  assert.deepEqual((document as { toJS(): unknown }).toJS(), map("m", data));
});

test("objects are ordered for a cluster to take them, unknown kinds last", () => {
  const object = (kind: string, name: string) => ({ apiVersion: "v1", kind, metadata: { name } });
  const sorted = sortForApply([
    object("Widget", "w"),
    object("Deployment", "d"),
    object("Secret", "b"),
    object("Secret", "a"),
    object("Namespace", "n"),
  ]);
  assert.deepEqual(
    sorted.map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    ["Namespace/n", "Secret/a", "Secret/b", "Deployment/d", "Widget/w"],
  );
});
