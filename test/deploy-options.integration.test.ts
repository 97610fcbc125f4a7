import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { describeNextCommand } from "../cli/commands/next-steps.ts";
import { components as catalogue } from "../cli/platform/components.ts";
import { createPlan } from "../cli/platform/plan.ts";
import { resolveConfig } from "../cli/config/resolve.ts";

const root = join(import.meta.dirname, "..");
const facts = { clusterIp: "127.0.0.1", wildcardDnsResolves: true };

/** What a deployment gets that one of the wrappers starts with this environment. */
function resolveWrapper(name: string, env: Record<string, string> = {}) {
  const script = '. "$1" && exec env -0';
  const output = execFileSync("sh", ["-euc", script, "sh", join(root, "deploy", name, `${name}-options`)], {
    env: { PATH: process.env["PATH"], ...env },
    encoding: "utf8",
  });
  const lines = output.split("\0").map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
  return resolveConfig({ env: Object.fromEntries(lines) as Record<string, string>, args: {}, facts });
}

/** Letters of the enabled ones: identity, ades, application hub, catalogue, data access, registration, workspace, registry, portal, dummy. */
function components(name: string, env?: Record<string, string>): string {
  const { variables: v } = resolveWrapper(name, env).config;
  return [
    v.REQUIRE_IDENTITY_SERVICE && "i",
    v.REQUIRE_ADES && "a",
    v.REQUIRE_APPLICATION_HUB && "h",
    v.REQUIRE_RESOURCE_CATALOGUE && "c",
    v.REQUIRE_DATA_ACCESS && "d",
    v.REQUIRE_REGISTRATION_API && "g",
    v.REQUIRE_WORKSPACE_API && "w",
    v.REQUIRE_REGISTRY && "r",
    v.REQUIRE_PORTAL && "p",
    v.REQUIRE_DUMMY_SERVICE && "s",
  ]
    .filter(Boolean)
    .join("");
}

const wrappers = [
  { name: "simple", has: "iahcdgwrps", open: true, stageout: "objstore", cloudData: false, objstore: true },
  { name: "processing", has: "a", open: true, stageout: "objstore", cloudData: false, objstore: true },
  { name: "data-access", has: "cdg", open: true, stageout: "workspace", cloudData: true, objstore: true },
  { name: "exploitation", has: "acdg", open: true, stageout: "objstore", cloudData: true, objstore: true },
  { name: "userman", has: "i", open: false, stageout: "workspace", cloudData: false, objstore: false },
  { name: "apphub", has: "ih", open: false, stageout: "workspace", cloudData: false, objstore: false },
  { name: "clouddata", has: "iahcdgwrps", open: false, stageout: "workspace", cloudData: true, objstore: true },
];

for (const { name, has, open, stageout, cloudData, objstore } of wrappers) {
  test(`variant A, deploy/${name}/${name}: its components and nothing wrong with its options`, () => {
    const { config, warnings, mistakes } = resolveWrapper(name);
    const { variables: v } = config;
    assert.deepEqual(mistakes, []);
    // An open platform says that it is open, and there is nothing else to say.
    assert.deepEqual(
      warnings.map(({ subject }) => subject),
      open ? ["OPEN_INGRESS"] : [],
    );
    assert.equal(components(name), has);
    assert.equal(config.scheme, "http");
    assert.deepEqual(
      [v.OPEN_INGRESS, v.STAGEOUT_TARGET, v.CLOUDDATA_DATA_SPECIFICATION, v.REQUIRE_OBJSTORE],
      [open, stageout, cloudData, objstore],
    );
    assert.equal(v.REQUIRE_ADES_PROTECTION, has.includes("a") && !open);
  });
}

test("each wrapper ends with the next command to type, in both variants", () => {
  const next = (name: string, variant: string) => {
    const { config } = resolveWrapper(name, { PLATFORM_VARIANT: variant });
    return describeNextCommand(createPlan(config, catalogue), "");
  };
  const expected: Readonly<Record<string, readonly [a: RegExp, b: RegExp]>> = {
    simple: [/: deploy\/simple\/tour$/, /: deploy\/simple\/quick-procedure$/],
    processing: [/: deploy\/simple\/quick-procedure$/, /: deploy\/simple\/quick-procedure$/],
    "data-access": [
      /: bin\/swath cp --root .* && deploy\/bin\/harvest /,
      /: deploy\/bin\/load-records|: bin\/swath pods$/,
    ],
    exploitation: [/: deploy\/simple\/quick-procedure$/, /: deploy\/simple\/quick-procedure$/],
    userman: [/: deploy\/bin\/create-user -U carol$/, /: deploy\/bin\/create-user -U carol$/],
    apphub: [/: bin\/swath login && bin\/swath notebook$/, /^Next, /],
    clouddata: [/: deploy\/simple\/tour$/, /^Next, /],
  };
  for (const [name, [a, b]] of Object.entries(expected)) {
    assert.match(next(name, "A"), a, name);
    assert.match(next(name, "B"), b, `${name} in variant B`);
  }
});

test("variant B, its own lists", () => {
  const b = { PLATFORM_VARIANT: "B" };
  const pick = (name: string) => {
    const { config, mistakes } = resolveWrapper(name, b);
    const { variables: v } = config;
    assert.deepEqual(mistakes, [], name);
    return [
      v.REQUIRE_LOGIN_SERVICE,
      v.REQUIRE_PDP,
      v.REQUIRE_ADES,
      v.REQUIRE_DATA_ACCESS,
      v.REQUIRE_PDE,
      v.OPEN_INGRESS,
    ];
  };
  assert.deepEqual(pick("simple"), [true, true, true, true, true, true]);
  assert.deepEqual(pick("processing"), [false, false, true, false, false, true]);
  assert.deepEqual(pick("data-access"), [false, false, false, true, false, true]);
  assert.deepEqual(pick("exploitation"), [false, false, true, true, false, true]);
  assert.deepEqual(pick("userman"), [true, true, false, false, false, false]);
  assert.deepEqual(pick("clouddata"), [true, true, true, true, true, false]);
});

test("a value of the caller wins, by the variable's name and by an alias", () => {
  const env = { USE_TLS: "true", REQUIRE_HARBOR: "false", CREODIAS_DATA_SPECIFICATION: "true" };
  const { config, mistakes } = resolveWrapper("simple", env);
  assert.deepEqual(mistakes, []);
  assert.equal(config.scheme, "https");
  assert.equal(config.variables.REQUIRE_REGISTRY, false);
  assert.equal(config.variables.CLOUDDATA_DATA_SPECIFICATION, true);
  const issuer = resolveWrapper("clouddata", { IDENTITY_ISSUER_URL: "https://id.example.org" });
  assert.deepEqual(issuer.mistakes, []);
  assert.equal(issuer.config.variables.REQUIRE_IDENTITY_SERVICE, false);
});

test("the scripts are clean", (t) => {
  if (spawnSync("shellcheck", ["--version"]).status !== 0) {
    t.skip("shellcheck is not installed (Debian package shellcheck)");
    return;
  }
  const scripts = globSync("deploy/*/*", { cwd: root }).filter((file) => !/\.(?:json|yml)$/.test(file));
  assert.ok(scripts.length > 15);
  const { status, stdout } = spawnSync("shellcheck", ["-x", ...scripts], { cwd: root, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});
