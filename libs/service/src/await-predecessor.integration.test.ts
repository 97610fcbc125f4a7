import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

const SERVICE = `import { createServer } from "node:http";
  import { runService } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
  await runService({
    name: "thing",
    settings: {},
    build: () => {
      process.send("built");
      return { servers: { http: createServer((request, response) => response.end("ok")) } };
    },
  });`;

test("a service that has a predecessor opens nothing before that is gone, and says so", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "swath-predecessor-"));
  const socketPath = join(folder, "management.sock");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SERVICE], {
    env: { ...process.env, MANAGEMENT_LISTEN: `unix:${socketPath}`, WAIT_FOR_PREDECESSOR: "true", LOG_LEVEL: "error" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  context.after(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const messages: unknown[] = [];
  child.on("message", (message) => messages.push(message));
  const readiness = () =>
    new Promise<string>((resolve) => {
      request({ socketPath, path: "/readyz" }, (response) => {
        void response
          .setEncoding("utf8")
          .toArray()
          .then((parts) => resolve(parts.join("").trim()));
      })
        .on("error", () => resolve("no answer"))
        .end();
    });
  const untilReadiness = async (wanted: string) => {
    while ((await readiness()) !== wanted) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await untilReadiness("loaded; waiting for its predecessor to stop");
  assert.deepEqual(messages, []);
  child.kill("SIGUSR2");
  await untilReadiness("ok");
  assert.deepEqual(messages, ["built"]);
  // It came twice.
  child.kill("SIGUSR2");
  child.kill("SIGTERM");
  const [status] = (await once(child, "exit")) as [number | null];
  assert.equal(status, 0);
});
