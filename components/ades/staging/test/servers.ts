import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { CreateBucketCommand, ListBucketsCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";

import { compiledCode, findFreePort, programFile } from "@swath/testing";

import { createS3Client } from "../s3-client.ts";
import type { S3Endpoint, SourceAccess, StageInLimits } from "../types.ts";

/** Scenes of the examples, as files. */
export const SCENES = join(import.meta.dirname, "../../../../examples/scenes");

export const LIMITS: Partial<StageInLimits> = { stallSeconds: 20, retries: 1, maxSeconds: 60 };

/** Loopback is a private address: tests allow it by name, as an operator would. */
export const openAccess = (others: Partial<SourceAccess> = {}): SourceAccess => ({
  allowPrivate: ["127.0.0.0/8"],
  internal: [],
  s3: [],
  limits: LIMITS,
  ...others,
});

export async function makeFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), "staging-"));
}

/** A server of the test's own, hostile or not. */
export async function startServer(
  t: { readonly after: (stop: () => void) => void },
  listener: RequestListener,
): Promise<{ readonly url: string }> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

export const findNginxSkipReason = existsSync("/usr/sbin/nginx")
  ? undefined
  : "nginx is not installed (Debian package nginx-light)";

/** nginx on a folder. */
export async function startNginx(root: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const [folder, port] = [await makeFolder(), await findFreePort()];
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  await writeFile(
    join(folder, "nginx.conf"),
    `daemon off; ${process.getuid?.() === 0 ? "user root;" : ""} pid ${folder}/nginx.pid; error_log ${folder}/error.log; events {}
     http { access_log off; sendfile on; types { application/json json; image/tiff tif; } ${temporary.join(" ")}
       server { listen 127.0.0.1:${port}; root ${root}; } }`,
  );
  const child = spawn("/usr/sbin/nginx", ["-c", join(folder, "nginx.conf")], { stdio: "ignore" });
  await untilItResponses(child, async () => (await fetch(`http://127.0.0.1:${port}/`)).arrayBuffer());
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(child, folder) };
}

/** Milliseconds that a program may take to start on a machine that has much to do. */
const TIMEOUT = 90_000;
const SECRET = "root-password-of-the-tests";

/**
 * The project's object store as its own process, with an empty bucket `results`: on a port of the loopback interface, or on a
 * socket as on the embedded cluster.
 */
export async function startObjstore(on: "port" | "socket" = "port"): Promise<{
  readonly endpoint: S3Endpoint;
  /** Its administration API, and the keys of its root user. */
  readonly admin: { readonly url: string; readonly user: string; readonly password: string };
  readonly client: S3Client;
  /** Puts an object into `results`, in one part, with a checksum as current clients send it or without. */
  readonly put: (key: string, body: Buffer | string, checksum?: "CRC32") => Promise<unknown>;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
}> {
  const [folder, port, console_] = [await makeFolder(), await findFreePort(), await findFreePort()];
  await mkdir(join(folder, "data"));
  const socket = join(folder, "s3.sock");
  const endpoint: S3Endpoint = {
    endpoint: on === "port" ? `http://127.0.0.1:${port}` : `http+unix://${encodeURIComponent(socket)}`,
    region: "us-east-1",
    credentials: { accessKeyId: "root", secretAccessKey: SECRET },
  };
  const client = createS3Client(endpoint, { connections: 4, stallSeconds: 20 });
  let child: ChildProcess;
  const start = async () => {
    child = spawn(process.execPath, [programFile("objstore/main.ts")], {
      stdio: ["ignore", "ignore", "inherit"],
      env: {
        ...compiledCode,
        DATA_DIR: join(folder, "data"),
        PUBLIC_URL: "http://objstore.localhost",
        LISTEN: on === "port" ? `127.0.0.1:${port}` : `unix:${socket}`,
        LISTEN_CONSOLE: `127.0.0.1:${console_}`,
        MANAGEMENT_LISTEN: "127.0.0.1:0",
        OBJSTORE_ROOT_USER: "root",
        OBJSTORE_ROOT_PASSWORD: SECRET,
        OBJSTORE_RESERVED_MIB: "1",
      },
    });
    await untilItResponses(child, () => client.send(new ListBucketsCommand({})));
  };
  await start();
  await client.send(new CreateBucketCommand({ Bucket: "results" }));
  return {
    endpoint,
    admin: { url: `http://127.0.0.1:${console_}`, user: "root", password: SECRET },
    client,
    put: (Key, Body, ChecksumAlgorithm) =>
      client.send(
        new PutObjectCommand({ Bucket: "results", Key, Body, ...(ChecksumAlgorithm && { ChecksumAlgorithm }) }),
      ),
    start,
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
    stop: async () => {
      client.destroy();
      await stop(child, folder);
    },
  };
}

/** Waits until a program answers; one that does not is ended, so that nothing waits for it for ever. */
async function untilItResponses(child: ChildProcess, send: () => Promise<unknown>): Promise<void> {
  const timeout = performance.now() + TIMEOUT;
  for (;;) {
    try {
      await send();
      return;
    } catch (error) {
      if (performance.now() > timeout || child.exitCode !== null) {
        child.kill("SIGKILL");
        throw error;
      }
      await sleep(50);
    }
  }
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
}
