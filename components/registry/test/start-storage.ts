import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { S3Client } from "@aws-sdk/client-s3";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";

const KEYS = { user: "root", password: "password-of-the-object-storage" };

export interface TestStorage {
  readonly client: S3Client;
  /** Environment of a registry with its content there. */
  readonly env: Readonly<Record<string, string>>;
  readonly start: () => Promise<void>;
  readonly kill: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The platform's object storage as a process of its own. */
export async function startStorage(): Promise<TestStorage> {
  const folder = mkdtempSync(join(tmpdir(), "swath-registry-s3-"));
  const [port, consolePort] = await findFreePorts(2);
  const url = `http://127.0.0.1:${port}`;
  let child: ChildProcess | undefined;
  const start = async () => {
    child = spawn(process.execPath, [programFile("objstore/main.ts")], {
      env: {
        // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
        PATH: process.env["PATH"],
        ...compiledCode,
        LOG_LEVEL: "error",
        DATA_DIR: folder,
        PUBLIC_URL: url,
        LISTEN: `127.0.0.1:${port}`,
        LISTEN_CONSOLE: `127.0.0.1:${consolePort}`,
        OBJSTORE_ROOT_USER: KEYS.user,
        OBJSTORE_ROOT_PASSWORD: KEYS.password,
        OBJSTORE_RESERVED_MIB: "1",
      },
      stdio: ["ignore", "ignore", "inherit"],
    });
    await waitUntil("the object storage answers", async () => {
      const response = await fetch(`http://127.0.0.1:${consolePort}/healthz`).catch(() => undefined);
      return response?.ok;
    });
  };
  const kill = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGKILL");
      await exited;
    }
  };
  await start();
  const client = new S3Client({
    endpoint: url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: KEYS.user, secretAccessKey: KEYS.password },
  });
  return {
    client,
    env: {
      BLOBS: "s3",
      S3_URL: url,
      S3_PUBLIC_URL: url,
      S3_ACCESS_KEY: KEYS.user,
      S3_SECRET_KEY: KEYS.password,
    },
    start,
    kill,
    close: async () => {
      client.destroy();
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
