import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import pg from "pg";

import { findDatabaseAccount } from "./account.ts";
import { installBinaries } from "./binaries.ts";
import { type DataDirectoryOptions, prepareDataDirectory } from "./data-directory.ts";
import { copyTemplate } from "./test-template.ts";

export interface TestServer {
  /** Connection string of an empty database. */
  readonly url: string;
  readonly process: ChildProcess;
  /** Ends the server at once, as `kill -9` would. */
  readonly kill: () => Promise<void>;
  /** Starts it again on the same data. */
  readonly start: () => Promise<void>;
  /** Stops it, and removes its data where they are not kept. */
  readonly close: () => Promise<void>;
}

interface TestServerOptions {
  /** Folder whose data are used and kept. */
  readonly keep?: string | undefined;
}

/** Milliseconds that it may take to be ready: where the disk is slow, to repair what a kill left takes long. */
const TIMEOUT = 90_000;

/** Beside compiled code. */
const CACHE = join(import.meta.dirname, "../../../../node_modules/.cache");

/**
 * A PostgreSQL of its own for one test file, on a unix socket in a temporary folder. What was committed survives `kill`, as in
 * production: the system keeps what a killed process has written. Only a loss of power it would not survive, and no test makes one.
 * With SWATH_TEST_DURABLE=true each commit waits for the disk, for measurements.
 */
export async function startTestServer({ keep }: TestServerOptions = {}): Promise<TestServer> {
  // oxlint-disable-next-line node/no-process-env -- a fixture of tests and measurements
  const durable = process.env["SWATH_TEST_DURABLE"] === "true";
  const account = findDatabaseAccount();
  const directory = keep ?? mkdtempSync(join(tmpdir(), "swath-pg-"));
  mkdirSync(directory, { recursive: true });
  if (account !== undefined) {
    chownSync(directory, account.uid, account.gid);
  }
  const binaries = installBinaries({ copyTo: join(directory, "programs"), account });
  const options: DataDirectoryOptions = {
    binaries,
    directory,
    account,
    superuser: "swath",
    password: "test",
    configuration: {
      listen_addresses: "",
      unix_socket_directories: directory,
      unix_socket_permissions: "0700",
      max_connections: 100,
      fsync: durable ? "on" : "off",
    },
    durable,
  };
  if (!existsSync(join(directory, "data"))) {
    copyTemplate(options, CACHE);
  }
  const data = prepareDataDirectory(options);
  const url = `postgres://swath:test@/postgres?host=${encodeURIComponent(directory)}`;
  let child: ChildProcess;
  const start = async () => {
    const timeout = performance.now() + TIMEOUT;
    for (;;) {
      child = spawn(binaries.postgres, ["-D", data], {
        stdio: "ignore",
        ...(account && { uid: account.uid, gid: account.gid }),
      });
      try {
        await waitUntilReady(url, child, timeout);
        return;
      } catch (error) {
        // Sessions of a server that was killed live on for a moment and hold its memory; the next must wait for them.
        if (child.exitCode === null || performance.now() > timeout) {
          child.kill("SIGKILL");
          throw error;
        }
        await sleep(100);
      }
    }
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = new Promise((resolve) => child.once("exit", resolve));
      child.kill(signal);
      await exited;
    }
  };
  await start();
  return {
    url,
    get process() {
      return child;
    },
    kill: () => stop("SIGKILL"),
    start,
    close: async () => {
      await stop(keep === undefined ? "SIGQUIT" : "SIGINT");
      if (keep === undefined) {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

async function waitUntilReady(url: string, child: ChildProcess, timeout: number): Promise<void> {
  while (performance.now() < timeout) {
    if (child.exitCode !== null) {
      throw new Error(`PostgreSQL ended with status ${child.exitCode} while starting`);
    }
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.end();
      return;
    } catch {
      await sleep(25);
    }
  }
  throw new Error(`PostgreSQL was not ready after ${TIMEOUT / 1000} s`);
}
