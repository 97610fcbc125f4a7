import { createCallerOf, createTokenVerifier, openIssuer } from "@swath/auth";
import { type Database, openDatabase } from "@swath/postgres";
import { type TestServer, startTestServer } from "@swath/postgres/server";
import { createLogger, createSecretCheck } from "@swath/service";
import { CallerLimits } from "@swath/service/caller-limits";
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compiledCode, createAnswerCheck, findFreePorts, programFile, waitUntil } from "@swath/testing";
import { startTestIssuer } from "@swath/testing/issuer";

import { createInternalApi } from "../routes/internal.ts";
import { createWorkspaceApi } from "../service.ts";
import type { Tables } from "../store/tables.ts";

export const ROOT = { user: "root", password: "root-password-of-the-tests" };

/** Options of tests that drive the AWS CLI. */
export const needsAws = existsSync("/usr/bin/aws") ? {} : { skip: "needs Debian's package awscli" };

export interface TestResponse {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- answers are looked into freely
  readonly body: any;
}

export interface Fixture {
  readonly database: Database<Tables>;
  readonly postgres: TestServer;
  readonly objstoreUrl: string;
  readonly objstoreAdminUrl: string;
  /** A request as `user`, without a token when left out. */
  readonly send: (
    user: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<TestResponse>;
  /** An access token of a user. */
  readonly tokenOf: (user: string) => Promise<string>;
  readonly startObjstore: () => Promise<void>;
  readonly killObjstore: () => Promise<void>;
  /** Starts a reconciler of its own process; `crashAt` ends it with SIGKILL when it reaches that point. */
  readonly startReconciler: (crashAt?: string, env?: Readonly<Record<string, string | undefined>>) => ChildProcess;
  /** What services of the deployment ask about a user's storage. */
  readonly callInternally: (user: string) => Promise<TestResponse>;
  readonly close: () => Promise<void>;
}

/** PostgreSQL, an object storage and an issuer of tokens, all real, and the API in this process. */
export async function startFixture(): Promise<Fixture> {
  const postgres = await startTestServer();
  const issuer = await startTestIssuer();
  const folder = mkdtempSync(join(tmpdir(), "swath-workspace-"));
  const [port, consolePort] = await findFreePorts(2);
  const objstoreUrl = `http://127.0.0.1:${port}`;
  const objstoreAdminUrl = `http://127.0.0.1:${consolePort}`;
  const children = new Set<ChildProcess>();
  const start = (file: string, env: Readonly<Record<string, string | undefined>>): ChildProcess => {
    const child = spawn(process.execPath, [file], {
      // oxlint-disable-next-line node/no-process-env -- a program of its own finds its programs
      env: { PATH: process.env["PATH"], ...compiledCode, LOG_LEVEL: "error", ...env },
      stdio: ["ignore", "ignore", "inherit"],
    });
    children.add(child);
    child.once("exit", () => children.delete(child));
    return child;
  };
  let objstore: ChildProcess | undefined;
  const startObjstore = async () => {
    objstore = start(programFile("objstore/main.ts"), {
      DATA_DIR: folder,
      PUBLIC_URL: objstoreUrl,
      LISTEN: `127.0.0.1:${port}`,
      LISTEN_CONSOLE: `127.0.0.1:${consolePort}`,
      OBJSTORE_ROOT_USER: ROOT.user,
      OBJSTORE_ROOT_PASSWORD: ROOT.password,
      OBJSTORE_RESERVED_MIB: "1",
      IDENTITY_ISSUER: issuer.url,
    });
    await waitUntil("the object storage answers", async () => {
      const response = await fetch(`${objstoreAdminUrl}/healthz`).catch(() => undefined);
      return response?.ok;
    });
  };
  await startObjstore();

  const logger = createLogger("workspace-api", "fatal");
  const database = await openDatabase<Tables>({
    url: postgres.url,
    schema: "workspace",
    migrations: join(import.meta.dirname, "../migrations"),
    onError: () => {},
  });
  const storage = { endpoint: objstoreUrl, region: "us-east-1" };
  const internal = createInternalApi({
    logger,
    context: { db: database.db, prefix: "ws", storage },
    isSecret: createSecretCheck("secret-of-the-tests"),
  });
  const app = await createWorkspaceApi(logger, {
    db: database.db,
    prefix: "ws",
    limits: new CallerLimits(),
    creation: { by: "self-service", limitPerUser: 2 },
    storage,
    callerOf: createCallerOf({
      verifier: createTokenVerifier({ issuer: openIssuer({ issuer: issuer.url }) }),
      audiences: ["workspace-api", "swath-platform"],
      administrators: { role: "admin", user: "admin" },
      isOpen: false,
      realm: "workspace-api",
      openHost: "workspace-api-open.example.org",
    }),
  });

  await app.ready();
  const checkResponse = createAnswerCheck(app.swagger());

  return {
    database,
    postgres,
    objstoreUrl,
    objstoreAdminUrl,
    send: async (user, method, path, body, headers = {}) => {
      const response = await app.inject({
        method: method as "GET",
        url: path,
        headers: {
          ...(user !== undefined && { authorization: `Bearer ${await issuer.token(user, { aud: "workspace-api" })}` }),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...headers,
        },
        ...(body !== undefined && { payload: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const provided = { status: response.statusCode, body: response.body === "" ? undefined : response.json() };
      checkResponse(method, path, provided.status, provided.body);
      return provided;
    },
    tokenOf: (user) => issuer.token(user, { aud: "swath-platform" }),
    startObjstore,
    killObjstore: async () => {
      const exited = new Promise((resolve) => objstore?.once("exit", resolve));
      objstore?.kill("SIGKILL");
      await exited;
    },
    callInternally: async (user) => {
      const response = await internal.inject({
        url: `/users/${encodeURIComponent(user)}/storage`,
        headers: { authorization: "Bearer secret-of-the-tests" },
      });
      return { status: response.statusCode, body: response.json() };
    },
    startReconciler: (crashAt, env) =>
      start(join(import.meta.dirname, "crash-reconciler.ts"), {
        DATABASE_URL: postgres.url,
        OBJSTORE_ADMIN_URL: objstoreAdminUrl,
        OBJSTORE_URL: objstoreUrl,
        OBJSTORE_ROOT_USER: ROOT.user,
        OBJSTORE_ROOT_PASSWORD: ROOT.password,
        RECONCILE_INTERVAL: "1s",
        ...(crashAt !== undefined && { CRASH_AT: crashAt }),
        ...env,
      }),
    close: async () => {
      for (const child of children) {
        child.kill("SIGKILL");
      }
      await waitUntil("they have ended", () => children.size === 0);
      await app.close();
      await internal.close();
      await database.close();
      await postgres.close();
      issuer.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
