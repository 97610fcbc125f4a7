import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { cloneVersion, git } from "../../../test/support/versions.ts";
import { buildStaleWebs } from "../build/build-webs.ts";
import { isStale, listWebs, readBuildRecord, webFolder } from "../build/web-sources.ts";

const ROOT = join(import.meta.dirname, "../../..");
const REPAIR = "run npm run build:web and commit components/*/web/dist";

for (const app of listWebs(ROOT)) {
  test(`the committed pages of ${app} are those of their sources`, () => {
    const folder = join(webFolder(ROOT, app), "dist");
    const files = readBuildRecord(ROOT, app)?.files ?? {};
    assert.ok("index.html" in files && !isStale(ROOT, app), `they are older than their sources: ${REPAIR}`);
    const found = Object.keys(files).map((file) => [file, digest(join(folder, file))]);
    assert.deepEqual(Object.fromEntries(found), files, `a file is not that of the build: ${REPAIR}`);
    const committed = git(folder, "ls-files", "--cached", "--others", "--exclude-standard", ".");
    assert.deepEqual(committed.stdout.trim().split("\n").sort(), [...Object.keys(files), "build.json"].sort(), REPAIR);
  });
}

test("the same sources give the same pages in another checkout", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-pages-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const clone = join(folder, "a clone");
  cloneVersion(clone);
  const before = readBuildRecord(clone, "identity");
  // As if it had never been built.
  assert.equal(git(clone, "rm", "-r", "--quiet", "components/identity/web/dist").status, 0);
  await buildStaleWebs({ root: clone, components: ["identity"] });
  assert.deepEqual(readBuildRecord(clone, "identity"), before);
});

const digest = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex");
