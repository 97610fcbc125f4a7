import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";

import { openSealed } from "@swath/testing";

import { sealSecret } from "./seal-secret.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

const open = (sealed: string, label: string): string => openSealed(sealed, label, privateKey);

test("a sealed Secret opens with the controller's key, in its own namespace and name alone", () => {
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name: "objstore-settings",
      namespace: "rm",
      labels: { "app.kubernetes.io/part-of": "swath" },
      annotations: { "swath.io/generate": JSON.stringify({ url: [{ text: "a:" }, { name: "PASSWORD", bytes: 24 }] }) },
    },
    type: "Opaque",
    data: { given: Buffer.from("pässword").toString("base64") },
  };
  const sealed = sealSecret(secret, { key: publicKey, get: (name) => `made for ${name}` });
  assert.equal(sealed.apiVersion, "bitnami.com/v1alpha1");
  assert.equal(sealed.kind, "SealedSecret");
  const { encryptedData, template } = sealed["spec"] as {
    encryptedData: Record<string, string>;
    template: { metadata: object; type: string };
  };
  assert.equal(open(encryptedData["given"] ?? "", "rm/objstore-settings"), "pässword");
  assert.equal(open(encryptedData["url"] ?? "", "rm/objstore-settings"), "a:made for PASSWORD");
  assert.throws(() => open(encryptedData["given"] ?? "", "rm/other"));
  assert.deepEqual(template, {
    metadata: { name: "objstore-settings", namespace: "rm", labels: { "app.kubernetes.io/part-of": "swath" } },
    type: "Opaque",
  });
  assert.doesNotMatch(JSON.stringify(sealed), /made for|w\u00f6rd/);
});

test("other objects are not touched", () => {
  const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", namespace: "n" } };
  assert.equal(sealSecret(map, { key: publicKey, get: () => "" }), map);
});
