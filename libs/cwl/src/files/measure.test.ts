import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { measureValue } from "./measure.ts";

test("bytes of files, of their companions and of all below directories, wherever they are in a value", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-measure-"));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "scene/deep"), { recursive: true });
  writeFileSync(join(folder, "scene/a"), "12345");
  writeFileSync(join(folder, "scene/deep/b"), "123");
  symlinkSync(join(folder, "scene/a"), join(folder, "scene/link"));
  const file = { class: "File", location: pathToFileURL(join(folder, "scene/a")).href };
  const directory = { class: "Directory", location: pathToFileURL(join(folder, "scene")).href };
  const value = {
    text: "not a file",
    many: [file, { class: "File", size: 10, secondaryFiles: [file] }],
    literal: { class: "Directory", listing: [file] },
    directory,
  };
  const sizes = new Map<string, Promise<number>>();
  assert.equal(await measureValue(value, sizes), 5 + 10 + 5 + 5 + 8);
  rmSync(join(folder, "scene"), { recursive: true });
  assert.equal(await measureValue(directory, sizes), 8, "it was measured before");
  assert.equal(
    await measureValue({ class: "Directory", location: pathToFileURL(join(folder, "gone")).href }, sizes),
    0,
  );
});
