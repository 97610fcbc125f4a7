import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { makePrivateFolder } from "./private-folder.ts";

test("refuses a folder that another user may have prepared", () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-private-"));
  try {
    const own = join(folder, "own");
    makePrivateFolder(own);
    makePrivateFolder(own);
    assert.equal(statSync(own).mode & 0o777, 0o700);
    const open = join(folder, "open");
    mkdirSync(open);
    chmodSync(open, 0o777);
    assert.throws(() => makePrivateFolder(open), /open cannot be used: other users may write in it\. Remove it/);
    const link = join(folder, "link");
    symlinkSync(own, link);
    assert.throws(() => makePrivateFolder(link), /link cannot be used: it is no folder/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
