import assert from "node:assert/strict";
import { test } from "node:test";
import { renderVariablesPage } from "./reference-page.ts";
import { resolveConfig } from "./resolve.ts";
import { describeOrigin, showConfig } from "./show.ts";
import { variableGroups, variableNames } from "./variables/table.ts";

const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

test("no secret is shown, whether given or generated", () => {
  const env = {
    DATABASE_URL: "postgresql://u:hidden-word@db.example.org/x",
    IDENTITY_SERVICE_DEFAULT_SECRET: "hidden-word",
    OBJSTORE_ROOT_PASSWORD: "hidden-word",
    PLATFORM_VARIANT: "B",
    CLOUD_PASSWORD: "hidden-word",
  };
  const shown = JSON.stringify(showConfig(resolveConfig({ env, args: {}, facts }).config));
  assert.ok(!shown.includes("hidden-word"));
});

test("every value has an origin", () => {
  const { config } = resolveConfig({
    env: { MINIO_ROOT_USER: "root1", USE_TLS: "false" },
    args: { arg3: "eo.test" },
    facts,
  });
  const origins = new Map(showConfig(config).map(({ name, origin }) => [name, describeOrigin(origin)]));
  assert.equal(origins.size, variableNames.length + 3);
  assert.equal(origins.get("OBJSTORE_ROOT_USER"), "alias MINIO_ROOT_USER");
  assert.equal(origins.get("USE_TLS"), "environment");
  assert.equal(origins.get("domain"), "argument");
  assert.equal(origins.get("cluster-name"), "default");
  assert.equal(origins.get("TLS_CLUSTER_ISSUER"), "derived: notls where USE_TLS is false");
});

test("each variable is in exactly one group, and on the reference page", () => {
  const grouped = variableGroups.flatMap(({ variables }) => Object.keys(variables));
  assert.deepEqual([...grouped].sort(), [...variableNames].sort());
  assert.equal(new Set(grouped).size, grouped.length);
  const page = renderVariablesPage();
  for (const name of variableNames) {
    assert.ok(page.includes(`### ${name}\n`), name);
  }
});
