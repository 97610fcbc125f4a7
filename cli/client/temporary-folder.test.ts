import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { test } from "node:test";

import { withTemporaryFolder } from "./temporary-folder.ts";

const MODULE = JSON.stringify(new URL("temporary-folder.ts", import.meta.url).href);

test("the folder is gone when the work ends, well or with an error", async () => {
  let seen = "";
  assert.equal(
    await withTemporaryFolder("test", (folder) => {
      seen = folder;
      return existsSync(folder);
    }),
    true,
  );
  assert.equal(existsSync(seen), false);
  await assert.rejects(
    withTemporaryFolder("test", (folder) => {
      seen = folder;
      throw new Error("the work failed");
    }),
    /the work failed/,
  );
  assert.equal(existsSync(seen), false);
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  test(`the folder is gone after ${signal}`, async () => {
    const script = `import { withTemporaryFolder } from ${MODULE};
      await withTemporaryFolder("test", (folder) => { console.log(folder); return new Promise(() => setInterval(() => {}, 1000)); });`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [folder] = (await once(child.stdout, "data")) as [Buffer];
    const path = folder.toString().trim();
    assert.ok(existsSync(path));
    child.kill(signal);
    const [status] = (await once(child, "exit")) as [number | null];
    assert.equal(status, 130);
    assert.equal(existsSync(path), false);
  });
}
