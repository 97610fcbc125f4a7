import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";

import { isInstalled } from "./load-client.ts";

const write = (file: string, value: object) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(value));
};
const lock = (version: string) => ({ packages: { "node_modules/a": { version } } });

test("a client is installed while its packages have the versions of the lock file", (t) => {
  const root = mkdtempSync(join(tmpdir(), "swath-client-"));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, "client");
  write(join(root, "package-lock.json"), lock("2.0.0"));
  assert.equal(isInstalled(root, folder), false);
  write(join(root, "node_modules/@kubernetes/client-node/package.json"), {});
  assert.equal(isInstalled(root, folder), true, "development tools have brought it");
  write(join(folder, "node_modules/.package-lock.json"), lock("1.0.0"));
  assert.equal(isInstalled(root, folder), false, "of an earlier version of the checkout");
  write(join(folder, "node_modules/.package-lock.json"), lock("2.0.0"));
  assert.equal(isInstalled(root, folder), true);
});
