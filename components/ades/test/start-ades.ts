import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findIsolation } from "@swath/isolation";
import { type TestServer, startTestServer } from "@swath/postgres/server";
import { findFreePorts, programFile, waitUntil } from "@swath/testing";

export const ROOT = { accessKeyId: "root", secretAccessKey: "root-password-of-the-tests" };

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

export interface TestAdes {
  readonly url: string;
  readonly postgres: TestServer;
  readonly objstoreUrl: string;
  readonly send: (
    path: string,
    init?: { method?: string; json?: unknown; text?: string; type?: string; headers?: Record<string, string> },
  ) => Promise<TestResponse>;
  /** The status of a job once it has ended. */
  readonly ended: (location: string) => Promise<TestResponse["body"]>;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** A further instance of the service on the same database, with the same volume unless `env` says otherwise. */
  readonly startReplica: (env?: Readonly<Record<string, string>>) => Promise<Replica>;
  /** The service's process. */
  readonly pid: () => number;
  /** The object storage can be killed and started again on its data. */
  readonly objstore: { readonly kill: () => Promise<void>; readonly start: () => Promise<void> };
  /** Folder of the service's jobs. */
  readonly dataFolder: string;
  readonly close: () => Promise<void>;
}

interface Replica {
  readonly url: string;
  readonly kill: () => Promise<void>;
}

export interface StartOptions {
  /** Further environment of the processing service. */
  readonly env?: Readonly<Record<string, string>>;
  readonly dataFolder?: string;
}

/** PostgreSQL, an object storage and the processing service, each a process of its own. */
export async function startAdes(options: StartOptions = {}): Promise<TestAdes> {
  const postgres = await startTestServer();
  const folder = mkdtempSync(join(tmpdir(), "swath-ades-"));
  const [port, s3, admin] = await findFreePorts(3);
  const url = `http://127.0.0.1:${port}`;
  const objstoreUrl = `http://127.0.0.1:${s3}`;
  const children = new Set<ChildProcess>();
  // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const run = (component: string, env: Record<string, string>): ChildProcess => {
    const child = spawn(process.execPath, [programFile(`${component}/main.ts`)], {
      env: {
        PATH,
        NODE_COMPILE_CACHE,
        LOG_LEVEL: "error",
        ...env,
      },
      stdio: ["ignore", "inherit", "inherit"],
    });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  const dataFolder = options.dataFolder ?? join(folder, "jobs");
  let objstore: ChildProcess;
  const startObjstore = async () => {
    objstore = runObjstore();
    await waitUntil("the object storage answers", () => fetch(objstoreUrl).catch(() => undefined), 90);
  };
  const runObjstore = () =>
    run("objstore", {
      DATA_DIR: join(folder, "objects"),
      PUBLIC_URL: objstoreUrl,
      LISTEN: `127.0.0.1:${s3}`,
      LISTEN_CONSOLE: `127.0.0.1:${admin}`,
      OBJSTORE_ROOT_USER: ROOT.accessKeyId,
      OBJSTORE_ROOT_PASSWORD: ROOT.secretAccessKey,
      OBJSTORE_RESERVED_MIB: "1",
    });
  let ades: ChildProcess;
  const send: TestAdes["send"] = async (path, { method, json, text, type, headers } = {}) => {
    const body = json === undefined ? text : JSON.stringify(json);
    const response = await fetch(new URL(path, url), {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { ...(body !== undefined && { "content-type": type ?? "application/json" }), ...headers },
      ...(body !== undefined && { body }),
    });
    const content = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") === true;
    return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(content) : content };
  };
  const start = async () => {
    ades = await startService(port ?? 0);
  };
  const startReplica: TestAdes["startReplica"] = async (env = {}) => {
    const [other = 0] = await findFreePorts(1);
    const replica = await startService(other, env);
    return { url: `http://127.0.0.1:${other}`, kill: () => killNow(replica) };
  };
  const startService = async (own: number, env: Readonly<Record<string, string>> = {}): Promise<ChildProcess> => {
    const service = run("ades", {
      DATABASE_URL: postgres.url,
      DATA_DIR: dataFolder,
      PUBLIC_URL: url,
      LISTEN: `127.0.0.1:${own}`,
      AUTHENTICATION: "optional",
      S3_ENDPOINT: objstoreUrl,
      S3_ACCESS_KEY: ROOT.accessKeyId,
      S3_SECRET_KEY: ROOT.secretAccessKey,
      MAX_CORES: "2",
      // Tools of the tests' own packages; where they cannot be isolated, in the open.
      HOST_TOOLS: findIsolation().works ? "isolated" : "open",
      ...options.env,
      ...env,
    });
    const address = `http://127.0.0.1:${own}/healthz`;
    await waitUntil("the service answers", async () => (await fetch(address).catch(() => undefined))?.ok, 90);
    return service;
  };
  const close = async () => {
    children.forEach((child) => child.kill("SIGTERM"));
    await waitUntil("they have ended", () => children.size === 0, 15).catch(async () => {
      children.forEach((child) => child.kill("SIGKILL"));
      await waitUntil("they were killed", () => children.size === 0);
    });
    await postgres.close();
    // A runner whose service was killed may be writing for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  };
  await startObjstore()
    .then(start)
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  return {
    url,
    postgres,
    dataFolder,
    objstore: { kill: () => killNow(objstore), start: startObjstore },
    pid: () => ades.pid ?? 0,
    objstoreUrl,
    send,
    start,
    startReplica,
    ended: (location) =>
      waitUntil(
        `${location} has ended`,
        async () => {
          const { body } = await send(location);
          return ["successful", "failed", "dismissed"].includes(body.status)
            ? (body as TestResponse["body"])
            : undefined;
        },
        90,
      ),
    kill: () => killNow(ades),
    close,
  };
}

async function killNow(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await exited;
}

/** Whether a command is that of a job's runner: its source, or its bundle. */
export const isRunner = (command: string): boolean => /\bades[./]runner\b/.test(command);
