import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { type TestServer, startTestServer } from "@swath/postgres/server";
import { compiledCode, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { createS3Signer } from "@swath/s3";
import pg from "pg";

import { PROCESS_ENVIRONMENT } from "../process-environment.ts";

const COMPONENTS = join(import.meta.dirname, "../..");
const ROOT_KEY = { accessKeyId: "root", secretAccessKey: "root-password-of-the-tests" };
const SECRET = "secret-of-the-tests";

export interface TestResponse {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- responses are looked into freely
  readonly body: any;
}

type Part = "postgres" | "catalogue" | "api" | "worker" | "worker2" | "objstore";

export interface Fixture {
  readonly postgres: TestServer;
  readonly apiUrl: string;
  readonly catalogueUrl: string;
  readonly objstoreUrl: string;
  /** What makes requests to the object storage as its root user. */
  readonly rootKey: { readonly accessKeyId: string; readonly secretAccessKey: string };
  readonly pidOf: (part: Part) => number | undefined;
  /** A request to the registration API. */
  readonly send: (method: string, path: string, body?: unknown) => Promise<TestResponse>;
  /** A request to its internal port. */
  readonly sendInternally: (method: string, path: string, body?: unknown) => Promise<TestResponse>;
  readonly callCatalogue: (path: string, headers?: Record<string, string>) => Promise<TestResponse>;
  /** Sends a request and waits until its task has ended. */
  readonly register: (path: string, body: unknown) => Promise<TestResponse>;
  readonly settle: (location: string) => Promise<TestResponse>;
  readonly put: (key: string, body: Uint8Array | string, type?: string) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
  /** A statement on the database, to change what cannot be waited for. */
  readonly query: (sql: string) => Promise<{ readonly rowCount: number }>;
  readonly kill: (part: Part) => Promise<void>;
  /**
   * `worker2` is a second worker, which only some tests start.
   * @param more settings beside its own
   */
  readonly start: (part: Part, more?: Readonly<Record<string, string>>) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** A long harvest on a loaded machine. */
const RESTART_MS = 300;
const TASK_SECONDS = 600;

/** The bucket that `put` writes to. */
export const BUCKET = "scenes";

/** PostgreSQL, the catalogue, an object storage, the API and a worker, all real and each a process of its own. */
export async function startFixture(workerEnv: Readonly<Record<string, string>> = {}): Promise<Fixture> {
  const postgres = await startTestServer();
  const folder = mkdtempSync(join(tmpdir(), "registration-"));
  const ports = await findFreePorts(6);
  const [api, internal, catalogue, catalogueInternal, objstore, console] = ports.map((port) => `127.0.0.1:${port}`);
  const catalogueUrl = `http://${catalogue}`;
  const apiUrl = `http://${api}`;
  const objstoreUrl = `http://${objstore}`;
  const children = new Map<Part, ChildProcess>();
  const environments: Readonly<Record<Exclude<Part, "postgres">, { entry: string; env: Record<string, string> }>> = {
    catalogue: {
      entry: "resource-catalogue/main.ts",
      env: {
        PUBLIC_URL: "http://resource-catalogue.localhost",
        PLATFORM_DOMAIN: "localhost",
        AUTHENTICATION: "optional",
        INTERNAL_SECRET: SECRET,
        LISTEN: catalogue ?? "",
        LISTEN_INTERNAL: catalogueInternal ?? "",
        MATCHED_CAP: "10000000",
      },
    },
    objstore: {
      entry: "objstore/main.ts",
      env: {
        DATA_DIR: join(folder, "objects"),
        PUBLIC_URL: objstoreUrl,
        OBJSTORE_ROOT_USER: ROOT_KEY.accessKeyId,
        OBJSTORE_ROOT_PASSWORD: ROOT_KEY.secretAccessKey,
        OBJSTORE_RESERVED_MIB: "1",
        LISTEN: objstore ?? "",
        LISTEN_CONSOLE: console ?? "",
        REGISTRATION_EVENTS_URL: `http://${internal}`,
        REGISTRATION_EVENTS_SECRET: SECRET,
      },
    },
    api: {
      entry: "registration-api/main.ts",
      env: {
        PUBLIC_URL: apiUrl,
        CATALOGUE_PUBLIC_URL: "http://resource-catalogue.localhost",
        AUTHENTICATION: "optional",
        INTERNAL_SECRET: SECRET,
        LISTEN: api ?? "",
        LISTEN_INTERNAL: internal ?? "",
      },
    },
    worker: worker(),
    worker2: worker(),
  };
  function worker(): { readonly entry: string; readonly env: Record<string, string> } {
    return {
      entry: "registration-api/worker/main.ts",
      env: {
        ...PROCESS_ENVIRONMENT,
        CATALOGUE_URL: `http://${catalogueInternal}`,
        CATALOGUE_PUBLIC_URL: "http://resource-catalogue.localhost",
        CATALOGUE_SECRET: SECRET,
        OBJSTORE_URL: objstoreUrl,
        OBJSTORE_PUBLIC_URL: objstoreUrl,
        OBJSTORE_EVENT_TARGET: "swath-registration",
        OBJSTORE_ROOT_USER: ROOT_KEY.accessKeyId,
        OBJSTORE_ROOT_PASSWORD: ROOT_KEY.secretAccessKey,
        ALLOW_PRIVATE: "127.0.0.1",
        PORTAL_PUBLIC_URL: "http://portal.localhost",
        ...workerEnv,
      },
    };
  }
  const readiness: Readonly<Partial<Record<Part, () => Promise<boolean>>>> = {
    catalogue: async () => (await fetch(`${catalogueUrl}/stac`)).ok,
    api: async () => (await fetch(`${apiUrl}/probe`)).ok,
    objstore: async () => (await fetch(`${objstoreUrl}/`)).status > 0,
  };
  const start = async (part: Part, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    if (part === "postgres") {
      await postgres.start();
      return;
    }
    const { entry, env } = environments[part];
    const child = spawn(process.execPath, [programFile(entry)], {
      env: { ...compiledCode, LOG_LEVEL: "error", DATABASE_URL: postgres.url, TMPDIR: folder, ...env, ...more },
      stdio: ["ignore", "inherit", "inherit"],
    });
    children.set(part, child);
    // A deployment starts what ended by itself again: the database may go while a worker begins.
    child.once("exit", (status) => {
      if (status !== null && status !== 0) {
        setTimeout(() => void (children.get(part) === child && start(part, more)), RESTART_MS).unref();
      }
    });
    await waitUntil(part, async () => (await readiness[part]?.().catch(() => false)) ?? true);
  };
  const kill = async (part: Part): Promise<void> => {
    if (part === "postgres") {
      await postgres.kill();
      return;
    }
    const child = children.get(part);
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
  };
  const close = async (): Promise<void> => {
    await Promise.all((["worker", "worker2", "api", "catalogue", "objstore"] as const).map(kill));
    children.clear();
    await postgres.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await Promise.all([start("catalogue"), start("api"), start("objstore")]);
    await start("worker");
  } catch (error) {
    await close();
    throw error;
  }
  const signer = createS3Signer({ ...ROOT_KEY, region: "us-east-1" });
  const sign = async (method: string, path: string, body?: Uint8Array | string, type?: string): Promise<void> => {
    const url = `${objstoreUrl}${path}`;
    const response = await fetch(url, {
      method,
      headers: await signer.sign({ method, url, headers: type === undefined ? {} : { "content-type": type } }),
      ...(body !== undefined && { body: body as string }),
    });
    if (!response.ok && response.status !== 409) {
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    }
  };
  await sign("PUT", `/${BUCKET}`);
  const send = (method: string, path: string, body?: unknown) => request(`${apiUrl}${path}`, method, body);
  const settle = async (location: string): Promise<TestResponse> => {
    const path = new URL(location).pathname;
    let response = await send("GET", path);
    const hasEnded = async (): Promise<boolean> => {
      response = await send("GET", path);
      return !["queued", "running"].includes(response.body.state);
    };
    await waitUntil(`task ${path}`, hasEnded, TASK_SECONDS);
    return response;
  };
  const escape = (key: string): string => key.split("/").map(encodeURIComponent).join("/");
  return {
    postgres,
    apiUrl,
    catalogueUrl,
    objstoreUrl,
    rootKey: ROOT_KEY,
    pidOf: (part) => children.get(part)?.pid,
    send,
    sendInternally: (method, path, body) =>
      request(`http://${internal}${path}`, method, body, { authorization: `Bearer ${SECRET}` }),
    callCatalogue: (path, headers) => request(`${catalogueUrl}${path}`, "GET", undefined, headers),
    register: async (path, body) => {
      const accepted = await send("POST", path, body);
      const location = accepted.headers.get("location");
      if (location === null) {
        throw new Error(`${path}: ${accepted.status} ${JSON.stringify(accepted.body)}`);
      }
      return settle(location);
    },
    settle,
    put: (key, body, type) => sign("PUT", `/${BUCKET}/${escape(key)}`, body, type),
    remove: (key) => sign("DELETE", `/${BUCKET}/${escape(key)}`),
    query: async (sql) => {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      try {
        return { rowCount: (await client.query(sql)).rowCount ?? 0 };
      } finally {
        await client.end();
      }
    },
    kill,
    start,
    close,
  };
}

async function request(
  url: string,
  method: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    redirect: "manual",
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

/** A server of documents on the loopback interface; `answer` gives undefined for 404. */
export async function startDocuments(
  reply: (path: string) => unknown,
  redirects: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: string; readonly server: Server; readonly close: () => void }> {
  const server = createServer((incoming, response) => {
    const location = redirects[incoming.url ?? ""];
    if (location !== undefined) {
      response.writeHead(302, { location }).end();
      return;
    }
    const found = reply(incoming.url ?? "/");
    if (found === undefined) {
      response.writeHead(404).end();
      return;
    }
    const isText = typeof found === "string" || found instanceof Uint8Array;
    response
      .writeHead(200, { "content-type": isText ? "text/plain" : "application/json" })
      .end(isText ? found : JSON.stringify(found));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A file of the examples. */
export const example = (path: string): Buffer => readFileSync(join(COMPONENTS, "../examples", path));

/** A valid item of a square degree. */
export function makeItem(id: string, overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    type: "Feature",
    stac_version: "1.1.0",
    stac_extensions: [],
    id,
    geometry: {
      type: "Polygon",
      coordinates: [
        [
          [10, 45],
          [11, 45],
          [11, 46],
          [10, 46],
          [10, 45],
        ],
      ],
    },
    bbox: [10, 45, 11, 46],
    properties: { datetime: "2024-06-01T10:00:00Z", "eo:cloud_cover": 10 },
    links: [],
    assets: { data: { href: "./data.tif" } },
    ...overrides,
  };
}

export function makeCollection(id: string, overrides: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    type: "Collection",
    stac_version: "1.1.0",
    id,
    description: `Scenes of ${id}`,
    license: "other",
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [["2015-01-01T00:00:00Z", null]] } },
    links: [],
    ...overrides,
  };
}
