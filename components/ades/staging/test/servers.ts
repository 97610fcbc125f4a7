import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type RequestListener, type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { CreateBucketCommand, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";

import { createS3Client } from "../s3-client.ts";
import type { S3Endpoint, SourceAccess, StageInLimits } from "../types.ts";

/** Scenes of the examples, as files. */
export const SCENES = join(import.meta.dirname, "../../../../examples/scenes");

export const LIMITS: Partial<StageInLimits> = { stallSeconds: 2, retries: 1, maxSeconds: 60 };

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

async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export const whyNoNginx = existsSync("/usr/sbin/nginx")
  ? undefined
  : "nginx is not installed (Debian package nginx-light)";

/** nginx on a folder. */
export async function startNginx(root: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const [folder, port] = [await makeFolder(), await findPort()];
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
  await waitFor(`http://127.0.0.1:${port}/`);
  return { url: `http://127.0.0.1:${port}`, stop: () => stop(child, folder) };
}

/** The project's object store as its own process, with an empty bucket `results`. */
export async function startObjstore(): Promise<{
  readonly endpoint: S3Endpoint;
  readonly client: S3Client;
  /** Puts an object into `results`, in one part. */
  readonly put: (key: string, body: Buffer | string) => Promise<unknown>;
  readonly child: ChildProcess;
  readonly stop: () => Promise<void>;
}> {
  const [folder, port, console_] = [await makeFolder(), await findPort(), await findPort()];
  await mkdir(join(folder, "data"));
  const secretAccessKey = "root-password-of-the-tests";
  const child = spawn(process.execPath, [join(import.meta.dirname, "../../../objstore/main.ts")], {
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      DATA_DIR: join(folder, "data"),
      PUBLIC_URL: "http://objstore.localhost",
      LISTEN: `127.0.0.1:${port}`,
      LISTEN_CONSOLE: `127.0.0.1:${console_}`,
      MANAGEMENT_LISTEN: "127.0.0.1:0",
      OBJSTORE_ROOT_USER: "root",
      OBJSTORE_ROOT_PASSWORD: secretAccessKey,
      OBJSTORE_RESERVED_MIB: "1",
    },
  });
  const endpoint: S3Endpoint = {
    endpoint: `http://127.0.0.1:${port}`,
    region: "us-east-1",
    credentials: { accessKeyId: "root", secretAccessKey },
  };
  await waitFor(endpoint.endpoint);
  const client = createS3Client(endpoint, { connections: 4, stallSeconds: 20 });
  await client.send(new CreateBucketCommand({ Bucket: "results" }));
  return {
    endpoint,
    client,
    put: (Key, Body) => client.send(new PutObjectCommand({ Bucket: "results", Key, Body })),
    child,
    stop: async () => {
      client.destroy();
      await stop(child, folder);
    },
  };
}

async function waitFor(url: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    try {
      await (await fetch(url)).arrayBuffer();
      return;
    } catch {
      await sleep(50);
    }
  }
  throw new Error(`${url} does not answer`);
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
  await rm(folder, { recursive: true, force: true });
}
