import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { WITHOUT_TARGETS, createPlatform, findTargets } from "./targets.ts";

const ROUTES = { paths: { "/things": { get: {} }, "/healthz": { get: {} } } };

/** Every host answers these documents at /openapi.json. */
const platformWith = (document: object | undefined) =>
  createPlatform({ domain: "example.org", port: 80 }, (async () =>
    document === undefined ? new Response("", { status: 404 }) : Response.json(document)) as never);

test("a service with an OpenAPI document is fuzzed, also where its document leaves routes out", async () => {
  const document = { paths: { "/documented": { get: {} } } };
  const { targets, missing } = await findTargets(platformWith(document), "new-service", ROUTES);
  assert.equal(missing, undefined);
  assert.deepEqual(
    targets.map(({ operations }) => operations.map(([, path]) => path)),
    [["/documented", "/things"]],
  );
});

test("a service without an OpenAPI document is a finding", async () => {
  const { targets, missing = "" } = await findTargets(platformWith(undefined), "new-service", ROUTES);
  assert.deepEqual(targets, []);
  assert.match(missing, /no OpenAPI document.* 1 operation/);
});

test("a service that tells nothing of what it serves is a finding, one with words of its own too", async () => {
  for (const workload of ["new-service", "objstore"]) {
    for (const served of [undefined, { paths: { "/healthz": { get: {} } } }]) {
      const { missing = "" } = await findTargets(platformWith(undefined), workload, served);
      assert.match(missing, /tells no operation/);
    }
  }
});

test("README.md says what looks at each pod that is not fuzzed", async () => {
  const text = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  const section = /## Pods without requests\n([\s\S]*?)(?:\n## |$)/.exec(text)?.[1] ?? "";
  const named = [...section.matchAll(/^\| `([a-z-]+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(new Set(named), WITHOUT_TARGETS);
  for (const workload of WITHOUT_TARGETS) {
    assert.deepEqual(await findTargets(platformWith(undefined), workload, undefined), { targets: [] });
  }
});
