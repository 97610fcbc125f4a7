import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";

import { findSocket } from "./find-socket.ts";

test("connects to a socket, and never through a link in its place", async () => {
  const folder = mkdtempSync(join(tmpdir(), "swath-socket-"));
  const server = createServer((socket) => socket.end("here"));
  const path = join(folder, "app");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    const before = readdirSync("/proc/self/fd").length;
    const found = findSocket(path);
    // What comes to the path afterwards is not what is connected to.
    symlinkSync(path, join(folder, "link"));
    assert.equal(await text(connect(found.path)), "here");
    found.close();
    assert.throws(() => findSocket(join(folder, "link")), { code: "ELOOP" });
    writeFileSync(join(folder, "file"), "");
    assert.throws(() => findSocket(join(folder, "file")), { code: "ENOTSOCK" });
    assert.throws(() => findSocket(join(folder, "none")), { code: "ENOENT" });
    assert.ok(readdirSync("/proc/self/fd").length <= before + 2, "no descriptor is left open");
  } finally {
    server.close();
    rmSync(folder, { recursive: true });
  }
});
