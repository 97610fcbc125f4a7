// A process that is replaced: its successor has the address, and clients still hold connections to it.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";

const SERVICE = `import { createServer } from "node:http";
  import { runService } from ${JSON.stringify(new URL("index.ts", import.meta.url).href)};
  await runService({
    name: "thing",
    settings: {},
    build: () => ({ servers: { http: createServer((request, response) => response.end(request.method)) } }),
  });
  process.send?.("listening");`;

async function startService(context: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "swath-drain-"));
  const socketPath = join(folder, "http.sock");
  const child = spawn(process.execPath, ["--input-type=module", "--eval", SERVICE], {
    env: { ...process.env, LISTEN: `unix:${socketPath}`, DRAIN_TIMEOUT: "30s", LOG_LEVEL: "error" },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  context.after(() => {
    agent.destroy();
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  await once(child, "message");
  child.disconnect();
  const post = async (): Promise<IncomingMessage> => {
    const [response] = (await once(request({ socketPath, agent, method: "POST" }).end(), "response")) as [
      IncomingMessage,
    ];
    await response.resume().toArray();
    return response;
  };
  return { child, post };
}

async function hasEnded(child: ChildProcess): Promise<number | null> {
  const [status] = (child.exitCode === null ? await once(child, "exit") : [child.exitCode]) as [number | null];
  return status;
}

test("a request on a connection that was idle when the process was told to stop is answered, and the last one", async (context) => {
  const { child, post } = await startService(context);
  assert.equal((await post()).headers.connection, "keep-alive");
  child.kill("SIGTERM");
  // Long enough for a server that lets go of idle connections to have done so.
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(child.exitCode, null);
  const last = await post();
  assert.deepEqual([last.statusCode, last.headers.connection], [200, "close"]);
  const started = performance.now();
  assert.equal(await hasEnded(child), 0);
  assert.ok(performance.now() - started < 10_000, "it ends when no connection is left");
});

test("an idle connection is kept for longer than those who send requests keep it", async (context) => {
  const { post } = await startService(context);
  assert.equal((await post()).headers["keep-alive"], "timeout=65");
});

test("an interrupt does not wait for idle connections", async (context) => {
  const { child, post } = await startService(context);
  await post();
  const started = performance.now();
  child.kill("SIGINT");
  assert.equal(await hasEnded(child), 0);
  assert.ok(performance.now() - started < 10_000);
});
