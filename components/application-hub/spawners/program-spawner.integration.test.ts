import { findIsolation } from "@swath/isolation";
import { waitUntil } from "@swath/testing";
import assert from "node:assert/strict";
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, test } from "node:test";

import { openFolders } from "./folders.ts";
import { createProgramSpawner } from "./program-spawner.ts";
import type { Launch } from "./spawner.ts";

/** A server that runs what it is sent by the shell. */
const SHELL_SERVER =
  'require("http").createServer((q,s)=>{let b="";q.on("data",d=>b+=d).on("end",()=>' +
  'require("child_process").exec(b,{timeout:20000},(e,o,x)=>s.end(o+x)))}).listen({port},"127.0.0.1")';

for (const kind of ["bubblewrap", "util-linux"] as const) {
  const report = findIsolation({ only: kind });
  const skip = report.works ? false : `${report.reason}; ${report.command}`;
  describe(`a server of this machine, isolated by ${kind}`, { skip }, () => {
    test("answers by a socket that it cannot see, is measured with its temporary files, and ends with the hub's folder", async () => {
      const data = mkdtempSync(join(tmpdir(), "swath-program-"));
      const folders = openFolders(data);
      mkdirSync(join(folders.shared, "hub"), { recursive: true });
      writeFileSync(folders.lease, "");
      const spawner = createProgramSpawner({
        folders,
        hasStorage: false,
        authorityFile: undefined,
        isolation: () => report,
      });
      const launch = {
        id: `program-${kind}-${process.pid}`,
        user: "eve",
        name: "",
        options: {},
        base: "/",
        origin: "http://eve.hub",
        env: {},
        size: { cores: 1, memoryBytes: 2 ** 29 },
        profile: {
          egress: "none",
          embedded: { kind: "program", command: ["sh", "-c", `exec /run/swath/node -e '${SHELL_SERVER}'`] },
        },
      } as unknown as Launch;
      const folder = folders.serverOf(launch.id);
      try {
        const { handle } = await spawner.start(launch, spawner.plan(launch), () => {});
        const run = async (script: string) =>
          new Promise<string>((resolve, reject) => {
            request(
              { socketPath: join(folder, "io/app"), method: "POST" },
              (response) => void text(response).then(resolve),
            )
              .on("error", reject)
              .end(script);
          });
        await waitUntil(
          "it answers",
          () =>
            run("echo up").then(
              (said) => said === "up\n",
              () => undefined,
            ),
          60,
        );
        assert.ok(lstatSync(join(folder, "io/app")).isSocket());
        assert.doesNotMatch(await run("ls /run/swath; find /run /tmp /home -type s 2>/dev/null"), /io|app/);
        assert.match(await run("echo kept >~/file; pwd; id -u"), /^\/home\/eve\n/);
        assert.equal(readFileSync(join(folders.homeOf("eve"), "file"), "utf8"), "kept\n");
        const before = await spawner.usage(handle);
        await run("head -c 100000000 /dev/zero >/tmp/large; sleep 60 >/dev/null 2>&1 & sleep 60 >/dev/null 2>&1 &");
        const after = await spawner.usage(handle);
        assert.ok((after?.memoryBytes ?? 0) - (before?.memoryBytes ?? 0) > 80e6, "temporary files are memory");
        assert.equal((after?.processes ?? 0) - (before?.processes ?? 0), 2);
        assert.match(await run("head -c 400000000 /dev/zero >/tmp/larger"), /No space left/);
        // The hub is removed with all that it has.
        rmSync(data, { recursive: true });
        await waitUntil("it has ended", async () => !(await spawner.poll(handle)).alive || undefined, 20);
        await waitUntil("its folder is gone", () => Promise.resolve(!existsSync(folder) || undefined), 20);
      } finally {
        rmSync(data, { recursive: true, force: true });
        rmSync(dirname(folders.shared), { recursive: true, force: true });
      }
    });
  });
}
