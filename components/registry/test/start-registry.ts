import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type TestServer, startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePort, programFile, waitUntil } from "@swath/testing";

export const ADMIN_PASSWORD = "password-of-the-tests";

export interface TestRegistry {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  readonly host: string;
  readonly folder: string;
  readonly postgres: TestServer;
  /** Starts the process; it has none at first. */
  readonly start: (env?: Readonly<Record<string, string>>) => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** PostgreSQL and a registry in a process of its own, on a free port of the loopback interface. */
export async function startTestRegistry(env: Readonly<Record<string, string>> = {}): Promise<TestRegistry> {
  const postgres = await startTestServer();
  const folder = mkdtempSync(join(tmpdir(), "swath-registry-"));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start: TestRegistry["start"] = async (more = {}) => {
    const started = spawn(process.execPath, [programFile("registry/main.ts")], {
      env: {
        // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
        PATH: process.env["PATH"],
        ...compiledCode,
        LOG_LEVEL: "error",
        DATABASE_URL: postgres.url,
        PUBLIC_URL: url,
        LISTEN: `127.0.0.1:${port}`,
        REGISTRY_ADMIN_PASSWORD: ADMIN_PASSWORD,
        TOKEN_SECRET: "secret of the tests, which is long enough",
        DATA_DIR: folder,
        ...env,
        ...more,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    child = started;
    await waitUntil("the registry answers", async () => {
      const response = await fetch(`${url}/healthz`).catch(() => undefined);
      return response?.ok === true || started.exitCode !== null || started.signalCode !== null;
    });
    if (started.exitCode !== null || started.signalCode !== null) {
      throw new Error(`the registry ended with ${started.exitCode ?? started.signalCode}`);
    }
  };
  const kill = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
    }
  };
  await start();
  return {
    url,
    host: `127.0.0.1:${port}`,
    folder,
    postgres,
    start,
    kill,
    close: async () => {
      await kill();
      await postgres.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
