import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { removeFolder } from "./remove-folder.ts";

test("a folder goes with all in it, also where a tool left a directory read-only", async () => {
  const folder = await mkdtemp(join(tmpdir(), "swath-remove-"));
  await mkdir(join(folder, "kept/inner"), { recursive: true });
  await writeFile(join(folder, "kept/inner/file"), "");
  await chmod(join(folder, "kept/inner"), 0o500);
  await chmod(join(folder, "kept"), 0o500);
  await removeFolder(folder);
  assert.equal(existsSync(folder), false);
});

test("a folder that is not there is no error", async () => {
  await removeFolder(join(tmpdir(), "swath-remove-never-made"));
});
